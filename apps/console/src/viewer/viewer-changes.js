import { queryOf } from '../api/query-of.js';
import { readApi } from '../api/read-api.js';
import { timelineChart } from '../charts/timeline-chart.js';
import { element, fill } from '../elements.js';
import { shownPath } from '../words/sentences.js';
import { cameraNotes } from '../words/timeline.js';

/** @import { ChangesResponse, IndexedFrame } from '@halogrid/proto' */

/** The coordinator reads all histograms of the job for this. */
const changesMs = 120_000;

/**
 * Shows what changed in the cameras of a job, in a chart for each; choosing an event goes to its frame. Rejects with
 * one sentence.
 *
 * @param {string} jobId
 * @param {string} pipeline empty: the only one
 * @param {(frame: IndexedFrame) => void} go
 */
export async function showChanges(jobId, pipeline, go) {
  const query = new URLSearchParams({ job_id: jobId, pipeline });
  /** @type {ChangesResponse} */
  const { cameras, leftOut, rows, columns } = await readApi(`changes?${query}`, { timeoutMs: changesMs });
  fill('changes', [
    ...cameras.map((camera) =>
      element(
        'section',
        { class: 'camera' },
        element('h3', {}, shownPath(camera.camera)),
        ...cameraNotes(camera).map((note) => element('p', { class: 'hint' }, note)),
        timelineChart(camera, rows * columns, ({ after }) => after && go(after)),
      ),
    ),
    element(
      'p',
      { class: 'hint' },
      ...(leftOut > 0 ? [`${leftOut} more cameras are left out. `] : []),
      'Choose an event to show its frame. ',
      element('a', { href: `changes.html?${queryOf({ job: jobId, pipeline: pipeline || undefined })}` }, 'All details'),
    ),
  ]);
}
