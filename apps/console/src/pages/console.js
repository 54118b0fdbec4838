// The first page: reads jobs and nodes from the API once a second and shows them.

import { readApi, TokenWanted } from '../api/read-api.js';
import { askForToken } from '../api/token-dialog.js';
import { speedChart } from '../charts/speed-chart.js';
import { byId, element, fill } from '../elements.js';
import { JobsFilter } from '../job/jobs-filter.js';
import { jobView, nodeView, nowView, olderWords, pixelCounts, totalSpeed } from '../words/cluster-view.js';
import { Rates } from '../words/rates.js';

/** @import { JobStatus } from '@halogrid/proto' */
/** @import { Snapshot, State } from '../words/cluster-view.js' */

const everyMs = 1_000;
/** The same while a text is looked for, because thousands of jobs are read each time. */
const everyMsOfAll = 5_000;
/** Seconds that the chart shows. */
const chartSeconds = 180;
/** Jobs that the button for older ones adds; the coordinator remembers thousands. */
const moreJobs = 50;
/** The newest jobs that are shown, in addition to all that have not ended. */
let shownJobs = moreJobs;
/** Nodes that are shown; the page of nodes has more. */
const shownNodes = 100;

const rates = new Rates();
const filter = new JobsFilter(() => {
  if (last) showJobs(last);
});
/** @type {Snapshot | undefined} */
let last;
/** @type {number[]} */
const speeds = [];

/** @returns {Promise<Snapshot>} */
async function snapshot() {
  // A text is looked for in all jobs that the coordinator remembers.
  const limit = filter.text ? 0 : shownJobs;
  const [open, newest, { nodes }] = await Promise.all([
    readApi(`jobs?limit=${shownJobs}&state=pending,running,finalising${filter.query}`),
    readApi(`jobs?limit=${limit}${filter.queryOfState}`),
    readApi('nodes'),
  ]);
  /** @type {Map<string, JobStatus>} */
  const byId = new Map([...open.jobs, ...newest.jobs].map((job) => [job.jobId, job]));
  const jobs = [...byId.values()].sort((a, b) => b.submittedMs - a.submittedMs);
  return { ms: Date.now(), jobs, nodes, leftOut: newest.leftOut };
}

/** @param {Snapshot} now */
function show(now) {
  rates.take(now.ms, pixelCounts(now));
  speeds.push(totalSpeed(now, rates));
  if (speeds.length > chartSeconds + 1) speeds.shift();

  fill(
    'now',
    nowView(now, rates).map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
  fill('chart', [speedChart(speeds, chartSeconds, Math.max(260, byId('chart').clientWidth - 26))]);

  last = now;
  showJobs(now);
  const nodes = now.nodes.slice(0, shownNodes).flatMap((node) => nodeRows(nodeView(node, now.ms, rates)));
  if (now.nodes.length > shownNodes)
    nodes.push(emptyRow(8, `${now.nodes.length - shownNodes} more are on the Nodes page.`));
  fill(
    'nodes',
    nodes.length > 0 ? nodes : [emptyRow(8, 'No node is attached. Start one: halogrid node --coordinator HOST:PORT')],
  );
}

/** @param {Snapshot} now */
function showJobs(now) {
  filter.show(now.jobs);
  const shown = now.jobs.filter((job) => filter.fits(job));
  const jobs = shown.flatMap((job) => jobRows(jobView(job, now.ms, rates)));
  const none = filter.isSet ? 'No such job.' : 'No jobs yet. Submit one: halogrid submit SOURCE…';
  fill('jobs', jobs.length > 0 ? jobs : [emptyRow(9, none)]);
  byId('older').textContent = olderWords(now.leftOut, moreJobs);
  byId('older').toggleAttribute('hidden', now.leftOut === 0);
}

/** @param {ReturnType<typeof jobView>} job */
function jobRows(job) {
  const bar = job.percent === undefined ? [] : [element('progress', { max: '100', value: String(job.percent) }), ' '];
  const left = job.left ? `, ${job.left}` : '';
  const row = element(
    'tr',
    {},
    element(
      'td',
      { class: 'head' },
      element('a', { href: job.page }, element('code', {}, job.id)),
      ...(job.owner ? [element('span', { class: 'owner' }, job.owner)] : []),
    ),
    stateCell(job.state),
    longCell('Work', job.work),
    element('td', { class: 'first' }, ...bar, element('span', {}, job.progress + left)),
    numberCell('Speed', job.speed),
    numberCell('Frames', job.frames),
    numberCell('Quarantined', job.quarantined),
    numberCell('Time', job.time),
    longCell('Output', job.out),
  );
  return [
    row,
    ...(job.error ? [sentenceRow(9, job.error, 'error')] : []),
    ...(job.waiting ? [sentenceRow(9, job.waiting, 'waiting')] : []),
    ...[...job.reasons, ...job.mended].map((words) => sentenceRow(9, words, 'inputs')),
  ];
}

/** @param {ReturnType<typeof nodeView>} node */
function nodeRows(node) {
  const row = element(
    'tr',
    {},
    element('td', { class: 'head' }, node.name),
    stateCell(node.state),
    longCell('Device', node.device),
    numberCell('Speed', node.speed),
    numberCell('Leases', node.leases),
    numberCell('Shards', node.shards),
    numberCell('Pixels', node.pixels),
    numberCell('Attached', node.attached),
  );
  return [row, ...node.lacks.map((lack) => sentenceRow(8, `${node.name} ${lack}`, 'lack'))];
}

/** @param {State} state */
const stateCell = ({ word, tone }) => element('td', { 'data-label': 'State', class: tone || undefined }, word);

/** A cell that shows as much as fits; its tooltip shows all. @param {string} label @param {string} text */
const longCell = (label, text) =>
  element('td', { class: 'long', title: text, 'data-label': label }, element('code', {}, text));

/** @param {string} label @param {string} text */
const numberCell = (label, text) => element('td', { class: 'number', 'data-label': label }, text);

/** @param {number} columns @param {string} sentence */
const emptyRow = (columns, sentence) => sentenceRow(columns, sentence, 'empty');

/**
 * A row with a sentence over all columns.
 *
 * @param {number} columns
 * @param {string} sentence
 * @param {string} className
 */
function sentenceRow(columns, sentence, className) {
  return element('tr', {}, element('td', { colspan: String(columns), class: className }, sentence));
}

/** @param {string} sentence @param {string} className */
function connection(sentence, className = '') {
  const place = byId('connection');
  // A screen reader reads it out each time it is set.
  if (place.textContent !== sentence) place.textContent = sentence;
  place.className = className;
}

byId('older').addEventListener('click', () => {
  shownJobs += moreJobs;
});

for (;;) {
  try {
    show(await snapshot());
    connection('Live');
  } catch (error) {
    if (error instanceof TokenWanted) await askForToken(error.message);
    else connection(`No answer from the coordinator: ${/** @type {Error} */ (error).message}`, 'lost');
  }
  await new Promise((resolve) => setTimeout(resolve, filter.text ? everyMsOfAll : everyMs));
}
