import { button, element } from '../elements.js';
import { shortFrameName, timeOfFrame } from '../words/frame-words.js';
import { showFrame } from './frame-dialog.js';
import { lazyPicture } from './pictures.js';
import { regionOfCells } from './region.js';

/**
 * @import { IndexedFrame, SearchResult } from '@halogrid/proto'
 * @import { Region } from './region.js'
 */

const thumbnailPx = 256;

/**
 * A search result, with its score and the cell that was found.
 *
 * @param {SearchResult} result
 * @param {number} i from 0
 * @param {{ rows: number, columns: number } | undefined} grid
 * @param {(frame: IndexedFrame) => void} pick
 */
export function resultItem({ frame, score, cellRow, cellColumn, folded, jobId }, i, grid, pick) {
  const isCell = cellRow !== undefined && cellColumn !== undefined;
  const cell = isCell ? `cell ${cellRow},${cellColumn}` : '';
  const more = folded > 0 ? `and ${folded} nearby` : '';
  const words = [`${i + 1}. ${score.toFixed(4)}`, cell, more].filter(Boolean).join(' · ');
  const marked = isCell && grid ? regionOfCells([cellRow * grid.columns + cellColumn], grid) : undefined;
  const known = { words, note: `${words} · job ${jobId}`, jobId, marked };
  return frameItem(/** @type {IndexedFrame} */ (frame), known, pick);
}

/**
 * An item in a list of frames. Its picture opens the frame beside its map.
 *
 * @param {IndexedFrame} frame
 * @param {{ words: string, note: string, jobId?: string, marked?: Region }} known as for `showFrame`; words go below
 * @param {(frame: IndexedFrame) => void} pick called with the frame when the user searches for it
 */
export function frameItem(frame, { words, ...known }, pick) {
  const name = shortFrameName(frame);
  const { marked } = known;
  const open = button('', () => showFrame(frame, known));
  open.className = 'open';
  open.append(lazyPicture(frame.picture, thumbnailPx, name, marked));
  open.title = frame.uri;
  return element(
    'li',
    {},
    open,
    element('strong', {}, words),
    element('span', { class: 'name' }, name),
    element('span', { class: 'hint' }, timeOfFrame(frame) || ' '),
    button('Search for this', () => pick(frame)),
  );
}
