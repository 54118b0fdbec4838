import { downloadLink } from '../api/download-link.js';
import { element } from '../elements.js';
import { describeBytes, plural } from '../words/quantities.js';

/** @import { ResultFile } from '@halogrid/proto' */

/** Folders that are listed at most. */
const mostListed = 12;

/**
 * The list of a job's files, with pictures grouped by folder, each with a download link; and the command that fetches
 * all files.
 *
 * @param {string} jobId
 * @param {readonly ResultFile[]} files
 * @param {string} command
 */
export function resultList(jobId, files, command) {
  const folders = Map.groupBy(files, ({ name }) => (name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : ''));
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    ...[...folders].slice(0, mostListed).map(([folder, inside]) => {
      const list = element('ul', { class: 'files' }, ...inside.slice(0, 200).map((file) => fileItem(jobId, file)));
      const bytes = inside.reduce((sum, file) => sum + file.bytes, 0);
      const words = `${folder}/ · ${plural(inside.length, 'file')}, ${describeBytes(bytes)}`;
      return folder === '' ? list : element('details', {}, element('summary', {}, words), list);
    }),
    element(
      'p',
      { class: 'hint' },
      `${plural(files.length, 'file')}, ${describeBytes(total)}. To copy them all: `,
      element('code', {}, command),
    ),
  ];
}

/** @param {string} jobId @param {ResultFile} file */
function fileItem(jobId, { name, bytes }) {
  const base = name.slice(name.lastIndexOf('/') + 1);
  return element(
    'li',
    {},
    downloadLink(resultPath(jobId, name), base, base),
    element('span', { class: 'hint' }, describeBytes(bytes)),
  );
}

/** The path of a file of a job below the API. @param {string} jobId @param {string} name */
export const resultPath = (jobId, name) =>
  `jobs/${encodeURIComponent(jobId)}/results/${name.split('/').map(encodeURIComponent).join('/')}`;
