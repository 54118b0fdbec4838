import { byId, fill } from '../elements.js';
import { withToken } from './token-dialog.js';

/**
 * Runs what the user asked for. Shows that it is working, and the error if it fails.
 *
 * @param {() => Promise<void>} act
 */
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
