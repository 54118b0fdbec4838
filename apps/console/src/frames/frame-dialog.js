import { queryOf } from '../api/query-of.js';
import { button, element } from '../elements.js';
import { shortFrameName, timeOfFrame } from '../words/frame-words.js';
import { shownPath } from '../words/sentences.js';
import { lazyPicture } from './pictures.js';

/**
 * @import { IndexedFrame } from '@halogrid/proto'
 * @import { Region } from './region.js'
 */

const side = 1024;

/**
 * Shows a frame beside the map that its job kept.
 *
 * @param {IndexedFrame} frame
 * @param {object} known
 * @param {string} known.note further words about the frame
 * @param {string} [known.jobId] the job that computed its histogram, if known
 * @param {Region} [known.marked] the part to mark, in shares of the whole
 */
export function showFrame(frame, { note, jobId, marked }) {
  const name = shortFrameName(frame);
  const map = frame.picture && `${frame.picture}/map`;
  const dialog = element(
    'dialog',
    { class: 'frame', 'aria-label': name },
    element('h2', {}, name),
    element('p', {}, [shownPath(frame.uri), timeOfFrame(frame), note].filter(Boolean).join(' · ')),
    element(
      'div',
      { class: 'pair' },
      element(
        'figure',
        {},
        lazyPicture(frame.picture, side, `Frame ${name}`, marked),
        element('figcaption', {}, 'Frame'),
      ),
      element('figure', {}, lazyPicture(map, side, `Map of ${name}`, marked), element('figcaption', {}, 'Map')),
    ),
    element(
      'p',
      { class: 'close' },
      button('Close', () => dialog.close()),
      ...(jobId ? [' ', element('a', { href: viewerOf(jobId, frame) }, 'open viewer')] : []),
    ),
  );
  document.body.append(dialog);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.showModal();
}

/** @param {string} jobId @param {IndexedFrame} frame */
const viewerOf = (jobId, { uri, frame, isVideo }) =>
  `viewer.html?${queryOf({ job: jobId, uri, frame: isVideo ? frame : undefined })}`;
