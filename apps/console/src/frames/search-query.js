/** @import { IndexStatus } from '@halogrid/proto' */

/**
 * What to search for: a file, a row of the index, or a frame of a source.
 *
 * @typedef {{ file: File } | { row: number } | { uri: string, frame: number }} Wanted
 */

/**
 * The API path of a search.
 *
 * @param {string} index
 * @param {Wanted} wanted
 * @param {Record<string, string>} options by their API names; empty ones are left out
 */
export function searchPath(index, wanted, options) {
  const parameters = new URLSearchParams({ index });
  if ('row' in wanted) parameters.set('row', String(wanted.row));
  if ('uri' in wanted) {
    parameters.set('uri', wanted.uri);
    parameters.set('frame', String(wanted.frame));
  }
  for (const [name, value] of Object.entries(options)) if (value !== '') parameters.set(name, value);
  return `search?${parameters}`;
}

/** Milliseconds of a `datetime-local` field, whose time is UTC here; empty if the field is. @param {string} value */
export const utcMs = (value) => (value === '' ? '' : String(Date.parse(`${value}Z`)));

/** @param {IndexStatus} index */
export function describeIndex({ frames, pipeline, rows, columns, error }) {
  if (error !== '') return error;
  const grid = rows * columns > 1 ? `, grid ${rows} x ${columns}` : '';
  return `${frames} frame${frames === 1 ? '' : 's'}, ${pipeline}${grid}`;
}

/** Frames of an index that are shown at once. */
export const shownFrames = 12;

/**
 * Which frames to show: some that are spread over the whole index, or a run of neighbours.
 *
 * @param {number | undefined} first of the run; undefined: the whole
 * @param {number} total
 */
export function framesPath(first, total) {
  const step = first === undefined ? Math.max(1, Math.floor(total / shownFrames)) : 1;
  return { first: Math.max(0, Math.min(first ?? 0, total - shownFrames)), step, count: shownFrames };
}
