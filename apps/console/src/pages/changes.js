// The page of changes: a timeline for each camera of a job, and frames from before and after each change.
import { attempt } from '../api/attempt.js';
import { queryOf } from '../api/query-of.js';
import { readApi } from '../api/read-api.js';
import { timelineChart } from '../charts/timeline-chart.js';
import { button, byId, element, fieldById, fill } from '../elements.js';
import { showFrame } from '../frames/frame-dialog.js';
import { lazyPicture } from '../frames/pictures.js';
import { regionOfCells } from '../frames/region.js';
import { describeTime, shortFrameName } from '../words/frame-words.js';
import { shownPath } from '../words/sentences.js';
import { cameraNotes, describeEvent, kinds, lastingFirst } from '../words/timeline.js';

/**
 * @import { CameraEvent, CameraTimeline, ChangesResponse, IndexedFrame, JobStatus } from '@halogrid/proto'
 * @import { Region } from '../frames/region.js'
 */

const changesMs = 120_000;
const pairPx = 512;

async function show() {
  fill('cameras', []);
  const asked = fieldById('job').value;
  if (asked === '') throw new Error('No job of this coordinator is complete yet');
  history.replaceState(null, '', `?${asked}`);
  const query = new URLSearchParams(asked);
  const parameters = new URLSearchParams({
    job_id: query.get('job') ?? '',
    pipeline: query.get('pipeline') ?? '',
    min_duration: fieldById('min-duration').value,
    threshold: fieldById('threshold').value,
    camera: fieldById('camera').value,
  });
  /** @type {ChangesResponse} */
  const { cameras, leftOut, rows, columns } = await readApi(`changes?${parameters}`, { timeoutMs: changesMs });
  fill(
    'cameras',
    cameras.map((camera) => cameraSection(camera, { rows, columns })),
  );
  if (leftOut > 0) fill('sentence', [`${leftOut} more cameras are not shown: type the name of one to see it`]);
}

/** A menu option for each pipeline of a job. @param {JobStatus} job */
function jobOptions({ jobId, finishedMs, spec }) {
  const words = `${describeTime(finishedMs, 'captured_at')}, ${shownPath(spec?.out ?? '')}`;
  const names = spec?.pipelines?.named.map(({ name }) => name) ?? [''];
  return names.map((name) => {
    const value = queryOf({ job: jobId, pipeline: name || undefined });
    return element('option', { value }, name ? `${words}, ${name}` : words);
  });
}

/** @param {CameraTimeline} camera @param {{ rows: number, columns: number }} grid */
function cameraSection(camera, grid) {
  const cells = grid.rows * grid.columns;
  const shown = element('div', { class: 'pair', 'aria-live': 'polite' });
  /** @param {CameraEvent} event */
  const open = (event) => {
    const marked = regionOfCells(event.cells, grid);
    const [before, after] = /** @type {[IndexedFrame, IndexedFrame]} */ ([event.before, event.after]);
    shown.replaceChildren(figure('Before', before, marked), figure('After', after, marked));
    shown.scrollIntoView({ block: 'nearest' });
  };
  return element(
    'section',
    { class: 'card' },
    element('h2', {}, shownPath(camera.camera)),
    element(
      'p',
      { class: 'hint' },
      `${camera.frames} frames, ${camera.events.length} ${camera.events.length === 1 ? 'change' : 'changes'}`,
    ),
    ...cameraNotes(camera).map((note) => element('p', { class: 'waiting' }, note)),
    timelineChart(camera, cells, open),
    shown,
    element(
      'ul',
      { class: 'events' },
      ...lastingFirst(camera.events).map((event) => {
        const made = button(describeEvent(event, camera.time, cells), () => open(event));
        made.className = `event ${event.kind}`;
        return element('li', {}, made);
      }),
    ),
  );
}

/** @param {string} when @param {IndexedFrame} frame @param {Region | undefined} marked */
function figure(when, frame, marked) {
  const jobId = new URLSearchParams(location.search).get('job') ?? '';
  const name = shortFrameName(frame);
  const open = button('', () => showFrame(frame, { note: when.toLowerCase(), jobId, marked }));
  open.className = 'open';
  open.append(lazyPicture(frame.picture, pairPx, `${when}: ${name}`, marked));
  return element('figure', {}, open, element('figcaption', {}, `${when}: ${name}`));
}

byId('asked').addEventListener('submit', (event) => {
  event.preventDefault();
  void attempt(show);
});
fill('legend', [
  ...Object.entries(kinds).map(([kind, words]) => element('span', { class: `event ${kind}` }, words)),
  element('span', { class: 'line reference' }, 'distance from the running reference'),
  element('span', { class: 'line step' }, 'distance from the previous frame'),
]);

await attempt(async () => {
  /** @type {{ jobs: JobStatus[] }} */
  const { jobs } = await readApi('jobs');
  const complete = jobs.filter(({ state }) => state === 'JOB_STATE_COMPLETE');
  byId('job').replaceChildren(...complete.flatMap(jobOptions));
  const asked = location.search.slice(1);
  if (asked === '') return;
  const options = [.../** @type {HTMLSelectElement} */ (byId('job')).options];
  // A link may name a job without a pipeline.
  const meant =
    options.find(({ value }) => value === asked) ?? options.find(({ value }) => value.startsWith(`${asked}&`));
  if (!meant) throw new Error('That job is not known here, or it is not complete');
  meant.selected = true;
  await show();
});
