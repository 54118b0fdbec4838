import { element } from './elements.js';
import { describeBytes, describeCount } from './quantities.js';
import { apiUrl, hasToken, readFile } from './read-api.js';

/** @typedef {{ name: string, bytes: number }} ResultFile */

/** Files of a folder that are listed one by one. */
const mostListed = 12;

/** The files of a job, those of pictures by their folder, each to be downloaded. @param {string} jobId @param {readonly ResultFile[]} files */
export function resultList(jobId, files) {
  const folders = Map.groupBy(files, ({ name }) => (name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : ''));
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    ...[...folders].slice(0, mostListed).map(([folder, inside]) => {
      const list = element('ul', { class: 'files' }, ...inside.slice(0, 200).map((file) => fileItem(jobId, file)));
      const bytes = inside.reduce((sum, file) => sum + file.bytes, 0);
      const words = `${folder}/ · ${describeCount(inside.length)} files, ${describeBytes(bytes)}`;
      return folder === '' ? list : element('details', {}, element('summary', {}, words), list);
    }),
    element(
      'p',
      { class: 'hint' },
      `${describeCount(files.length)} files, ${describeBytes(total)}. All of them: `,
      element('code', {}, `halogrid results ${jobId} --to FOLDER`),
    ),
  ];
}

/** @param {string} jobId @param {ResultFile} file */
function fileItem(jobId, { name, bytes }) {
  const base = name.slice(name.lastIndexOf('/') + 1);
  return element('li', {}, downloadLink(jobId, name, base), element('span', { class: 'hint' }, describeBytes(bytes)));
}

/** The path of a file of a job below the API. @param {string} jobId @param {string} name */
export const resultPath = (jobId, name) =>
  `jobs/${encodeURIComponent(jobId)}/results/${name.split('/').map(encodeURIComponent).join('/')}`;

/**
 * A link that a browser follows itself; where there is a token, which it would not send, the file is read here first. No link has a
 * token in it.
 *
 * @param {string} jobId @param {string} name @param {string} base
 */
function downloadLink(jobId, name, base) {
  const path = resultPath(jobId, name);
  const link = element('a', { href: apiUrl(path), download: base }, base);
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
