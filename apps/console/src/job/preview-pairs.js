import { element } from '../elements.js';
import { lazyPicture } from '../frames/pictures.js';
import { resultPath } from './result-list.js';

/** @import { ResultFile } from '@halogrid/proto' */

/**
 * The previews of maps among the files of a job, with pipeline and preview of the source; `source` is empty if there is
 * none.
 *
 * @param {readonly ResultFile[]} files
 */
export function previewNames(files) {
  const names = new Set(files.map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [, folder = '', base] = /^(.*\/)?preview\/(.*)\.png$/s.exec(name) ?? [];
    if (base === undefined) return [];
    const source = `${folder}preview/${base}.source.jpg`;
    return [{ name: base, pipeline: folder.split('/')[1] ?? '', map: name, source: names.has(source) ? source : '' }];
  });
}

/** Previews of maps, each beside its source. @param {string} jobId @param {readonly ResultFile[]} files */
export function previewPairs(jobId, files) {
  return previewNames(files).map(({ name, pipeline, map, source }) => {
    const title = pipeline ? `${name} · ${pipeline}` : name;
    return element(
      'li',
      {},
      element(
        'figure',
        {},
        element(
          'div',
          { class: 'pair' },
          lazyPicture(source && `/api/v1/${resultPath(jobId, source)}`, 0, `Source ${name}`),
          lazyPicture(`/api/v1/${resultPath(jobId, map)}`, 0, `Map of ${name}`),
        ),
        element('figcaption', { class: 'name', title }, title),
      ),
    );
  });
}
