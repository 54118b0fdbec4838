import { element } from '../elements.js';
import { apiUrl, hasToken, readFile } from './read-api.js';

/**
 * A link that downloads a path of the API. Browsers do not send the token when they follow a link, so with a token the
 * file is read here first. No link contains a token.
 *
 * @param {string} path below the API
 * @param {string} file name of the saved file
 * @param {string} words
 */
export function downloadLink(path, file, words) {
  const link = element('a', { href: apiUrl(path), download: file }, words);
  link.addEventListener('click', async (event) => {
    if (!hasToken() || link.href.startsWith('blob:')) return;
    event.preventDefault();
    link.href = URL.createObjectURL(await readFile(path));
    link.click();
    URL.revokeObjectURL(link.href);
    link.href = apiUrl(path);
  });
  return link;
}
