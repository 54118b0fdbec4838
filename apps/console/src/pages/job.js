// The page of the job whose id is in the path: reads it once a second while it runs.

import { downloadLink } from '../api/download-link.js';
import { queryOf } from '../api/query-of.js';
import { readApi } from '../api/read-api.js';
import { withToken } from '../api/token-dialog.js';
import { HistogramSection } from '../charts/histogram-section.js';
import { nodeLanes } from '../charts/node-lanes.js';
import { rateChart } from '../charts/rate-chart.js';
import { byId, element, fill } from '../elements.js';
import { boundBy } from '../job/bound-by.js';
import { jobActions } from '../job/job-actions.js';
import { jobHead } from '../job/job-head.js';
import { previewPairs } from '../job/preview-pairs.js';
import { quarantinedList } from '../job/quarantined-list.js';
import { resultList, resultPath } from '../job/result-list.js';
import { resultsCommand } from '../job/results-command.js';
import { stageTable } from '../job/stage-table.js';
import { jobFigures } from '../words/job-view.js';
import { hasEnded } from '../words/progress.js';
import { specRows } from '../words/spec-rows.js';

/**
 * @import { FrameHistograms, JobDetail, JobStatus, MayAnswer, QuarantinedInputs, ResultsAnswer } from '@halogrid/proto'
 */

/** @typedef {JobDetail & { job: JobStatus }} ShownJob */

const everyMs = 1_000;
/** The coordinator reads all histograms of the job for this. */
const cellsMs = 120_000;
const jobId = decodeURIComponent(location.pathname.split('/').at(-1) ?? '');
const path = `jobs/${encodeURIComponent(jobId)}`;
const histogram = new HistogramSection(byId('histogram'), () => void showAsked());
/** @type {ShownJob | undefined} */
let shown;
/** @type {MayAnswer | undefined} */
let may;
/**
 * The state for which the buttons were made. They are replaced only when it changes, so that they can be pressed at any
 * time.
 */
let lastState = '';
let lastQuarantined = -1;

/** @param {string} sentence */
const tell = (sentence) => fill('sentence', sentence ? [sentence] : []);

/** @param {ShownJob} detail @param {MayAnswer} may */
function show({ job, nowMs, history }, may) {
  document.title = `${job.jobId} – halogrid`;
  byId('about').removeAttribute('hidden');
  fill('head', jobHead(job));
  const state = hasEnded(job) ? 'over' : 'open';
  if (state !== lastState) fill('actions', may.submit ? jobActions(job, tell) : []);
  lastState = state;
  const figures = jobFigures(job, nowMs);
  fill(
    'facts',
    figures.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
  fill('bound', boundBy(job, nowMs));
  fill(
    'spec',
    (job.spec ? specRows(job.spec, job.asked) : []).flatMap(([name, values]) => [
      element('dt', {}, name),
      element('dd', {}, ...values.map((value) => element('code', {}, value))),
    ]),
  );
  if (history) {
    const width = Math.max(260, byId('rate').clientWidth - 26);
    fill('rate', [rateChart(history, width, hasEnded(job))]);
    fill('lanes', history.lanes.length > 0 ? nodeLanes(history) : [note('No shard is merged yet.')]);
    byId('trace').toggleAttribute('hidden', history.lanes.length === 0);
    fill('stages', [stageTable(history)]);
  } else {
    for (const id of ['rate', 'lanes', 'stages'])
      fill(id, [note('No record: a coordinator of an earlier version ran this job, or was killed within seconds.')]);
  }
}

// Made once: a link that is pressed must still exist when the mouse button is released.
fill('trace', [
  'Every shard and stage: ',
  downloadLink(`${path}/trace`, `halogrid-trace-${jobId}.json`, 'trace'),
  ', a file for ',
  element('a', { href: 'https://ui.perfetto.dev', target: '_blank', rel: 'noreferrer' }, 'ui.perfetto.dev'),
  '.',
]);

/** @param {string} words */
const note = (words) => element('p', { class: 'hint none' }, words);

/** Reads the job, with the merged results of the chosen pipeline and cell. @returns {Promise<ShownJob>} */
function readJob() {
  const cell = histogram.growingCell;
  return readApi(`${path}?${queryOf({ merged: histogram.pipeline, cell })}`);
}

/** Shows the histogram after another pipeline or cell was chosen. */
async function showAsked() {
  try {
    if (shown && !hasEnded(shown.job)) shown = await readJob();
    await showHistogram();
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    if (histogram.growingCell === undefined) histogram.say(message);
    else histogram.refuseCell(message);
  }
}

/** Shows the results so far of a running job, or the histogram.json of a complete one. */
async function showHistogram() {
  if (!shown) return;
  const { job, merged } = shown;
  const named = job.spec?.pipelines?.named.map(({ name }) => name) ?? [''];
  const name = histogram.pipeline || (named[0] ?? '');
  const grid = { rows: job.spec?.grid?.rows ?? 1, columns: job.spec?.grid?.columns ?? 1 };
  const hasCells = grid.rows * grid.columns > 1;
  try {
    if (job.state === 'JOB_STATE_COMPLETE') {
      if (hasCells) histogram.offerCells(grid, () => readCells(name));
      histogram.show(await readApi(resultPath(jobId, `${name ? `pipelines/${name}/` : ''}histogram.json`)), named);
    } else if (hasEnded(job)) histogram.say('No histogram: the job did not complete.');
    else if (merged) {
      if (hasCells) histogram.offerGrowingCells(grid);
      histogram.show(merged, merged.pipelines);
    } else histogram.say('The coordinator that leads the job has not reported its results so far.');
  } catch (error) {
    histogram.say(/** @type {Error} */ (error).message);
  }
}

/**
 * Sums of cells by pipeline. They are kept, because the coordinator reads all results of the job for them.
 *
 * @type {Map<string, Promise<FrameHistograms>>}
 */
const cells = new Map();

/** @param {string} pipeline */
function readCells(pipeline) {
  const reading =
    cells.get(pipeline) ?? readApi(`${path}/cells?${new URLSearchParams({ pipeline })}`, { timeoutMs: cellsMs });
  cells.set(pipeline, reading);
  reading.catch(() => cells.delete(pipeline));
  return reading;
}

/** @param {JobStatus} job */
async function showQuarantined(job) {
  const count = job.counts?.quarantined ?? 0;
  const isComplete = job.state === 'JOB_STATE_COMPLETE';
  if (count === lastQuarantined && !isComplete) return;
  lastQuarantined = count;
  /** @type {QuarantinedInputs} */
  const inputs = count > 0 ? await readApi(`${path}/quarantined`) : { groups: [], leftOut: 0 };
  fill('quarantined', quarantinedList(inputs, isComplete && count > 0 ? resultPath(jobId, 'errors.jsonl') : ''));
}

/** @param {JobStatus} job */
async function showResults(job) {
  if (job.state !== 'JOB_STATE_COMPLETE') return;
  try {
    /** @type {ResultsAnswer} */
    const { files, grpcPort } = await readApi(`${path}/results`);
    fill('results', resultList(job.jobId, files, resultsCommand(job.jobId, grpcPort, location)));
    const pairs = previewPairs(job.jobId, files);
    fill('previews', pairs);
    byId('previews-section').toggleAttribute('hidden', pairs.length === 0);
  } catch (error) {
    fill('results', [note(/** @type {Error} */ (error).message)]);
  }
  byId('results-section').removeAttribute('hidden');
}

/** @param {string} words @param {string} className */
function connection(words, className = '') {
  const place = byId('connection');
  if (place.textContent !== words) place.textContent = words;
  place.className = className;
}

for (let isOver = false; !isOver; ) {
  try {
    shown = await withToken(readJob);
    may ??= /** @type {MayAnswer} */ (await readApi('may'));
    show(shown, may);
    await Promise.all([showHistogram(), showQuarantined(shown.job)]);
    isOver = hasEnded(shown.job);
    if (isOver) await showResults(shown.job);
    connection(isOver ? '' : 'Live');
  } catch (error) {
    if (!shown) tell(/** @type {Error} */ (error).message);
    connection(shown ? `No answer from the coordinator: ${/** @type {Error} */ (error).message}` : '', 'lost');
  }
  if (!isOver) await new Promise((resolve) => setTimeout(resolve, everyMs));
}
// Charts are drawn for the width of their place.
addEventListener('resize', () => {
  if (!shown?.history) return;
  fill('rate', [rateChart(shown.history, Math.max(260, byId('rate').clientWidth - 26), true)]);
  void showHistogram();
});
