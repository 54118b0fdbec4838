import { byId, fill } from '../elements.js';
import { withToken } from './token-dialog.js';

/** Does what somebody asked for, says that it is under way, and what went wrong. @param {() => Promise<void>} act */
export async function attempt(act) {
  fill('sentence', []);
  byId('connection').textContent = 'Working …';
  try {
    await withToken(act);
  } catch (error) {
    fill('sentence', [/** @type {Error} */ (error).message]);
  }
  byId('connection').textContent = '';
}
