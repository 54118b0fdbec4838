import { element } from '../elements.js';
import { keepToken, TokenWanted } from './read-api.js';

/** Asks the user for a token and keeps it. @param {string} reason */
export async function askForToken(reason) {
  const input = element('input', { type: 'password', autocomplete: 'off', required: '' });
  const form = element(
    'form',
    { method: 'dialog' },
    element('h2', { id: 'token-title' }, 'This coordinator needs a token'),
    element('p', {}, reason),
    element('label', {}, 'Token ', input),
    element('button', { type: 'submit' }, 'Continue'),
  );
  const dialog = element('dialog', { 'aria-labelledby': 'token-title' }, form);
  document.body.append(dialog);
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  dialog.remove();
  keepToken(input.value.trim());
}

/**
 * Resolves as `act`. Each time the coordinator asks for a token, asks the user for one and runs `act` again.
 *
 * @template T
 * @param {() => Promise<T>} act
 * @returns {Promise<T>}
 */
export async function withToken(act) {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof TokenWanted)) throw error;
      await askForToken(error.message);
    }
  }
}
