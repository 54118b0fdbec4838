import { element } from '../elements.js';
import { apiUrl, hasToken, readFile } from './read-api.js';

/**
 * A link to what is at a path below the API that a browser follows itself; where there is a token, which it would not
 * send, the file is read here first. No link has a token in it.
 *
 * @param {string} path @param {string} file how it is named where it is kept @param {string} words
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
