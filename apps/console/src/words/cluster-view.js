import { describeShards, hasEnded, percentDone, secondsLeft } from './progress.js';
import { describeClock, describeCount, describeDuration, describePixels, describeSpeed, plural } from './quantities.js';
import { describeLacks, describeMended, describeReason, shownPath, whyNothingMerged } from './sentences.js';

/**
 * @import { AskedPipeline, JobStatus, NodeStatus } from '@halogrid/proto'
 * @import { Rates } from './rates.js'
 */

/**
 * What the API answered at one moment; `leftOut` is the number of older jobs.
 *
 * @typedef {{ ms: number, jobs: JobStatus[], nodes: NodeStatus[], leftOut: number }} Snapshot
 */

/**
 * A word, and whether it is good news, bad news, or something to wait for.
 *
 * @typedef {{ word: string, tone: '' | 'good' | 'bad' | 'wait' }} State
 */

/** @type {Record<string, State['tone']>} */
const tones = { complete: 'good', failed: 'bad', cancelled: 'wait', pending: 'wait' };

/** A job's state as one word. @param {JobStatus} job */
export const stateOf = ({ state }) => state.replace('JOB_STATE_', '').toLowerCase();

/**
 * Whether each word of a text is in what the list says of a job, or in its sources.
 *
 * @param {JobStatus} job
 * @param {string} text
 */
export function hasText(job, text) {
  const { jobId, owner, asked, spec, error, waiting } = job;
  const said = [jobId, owner, stateOf(job), describeWork(asked), shownPath(spec?.out ?? ''), error, waiting];
  const all = [...said, ...(spec?.sources ?? []).map(shownPath)].join('\n').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** Pixels done of each job and node, by names that jobs and nodes do not share. @param {Snapshot} snapshot */
export function pixelCounts({ jobs, nodes }) {
  return new Map([
    ...jobs.map((job) => /** @type {const} */ ([`job ${job.jobId}`, job.counts?.pixels ?? 0])),
    ...nodes.map((node) => /** @type {const} */ ([`node ${node.nodeId}`, node.pixelsDone])),
  ]);
}

/** The words of the button for older jobs. @param {number} leftOut @param {number} more */
export const olderWords = (leftOut, more) =>
  leftOut > more ? `Show ${more} of ${describeCount(leftOut)} older jobs` : `Show ${plural(leftOut, 'older job')}`;

/** Pixels per second of all running jobs. @param {Snapshot} snapshot @param {Rates} rates */
export function totalSpeed({ jobs }, rates) {
  return jobs.filter(isRunning).reduce((sum, job) => sum + rates.of(`job ${job.jobId}`), 0);
}

/**
 * The figures at the top of the first page: name and value.
 *
 * @param {Snapshot} snapshot
 * @param {Rates} rates
 * @returns {[name: string, value: string][]}
 */
export function nowView(snapshot, rates) {
  const running = snapshot.jobs.filter(isRunning);
  const waiting = running.reduce((sum, { counts }) => sum + (counts ? counts.shards - counts.shardsDone : 0), 0);
  const quarantined = snapshot.jobs.reduce((sum, { counts }) => sum + (counts?.quarantined ?? 0), 0);
  return [
    ['Throughput', describeSpeed(totalSpeed(snapshot, rates))],
    ['Running jobs', describeCount(running.length)],
    ['Shards left', describeCount(waiting)],
    ['Nodes', describeCount(snapshot.nodes.length)],
    ['Quarantined inputs', describeCount(quarantined)],
  ];
}

/** @param {JobStatus} job @param {number} ms @param {Rates} rates */
export function jobView(job, ms, rates) {
  const { counts } = job;
  const left = secondsLeft(job);
  const speed = isRunning(job) ? rates.of(`job ${job.jobId}`) : 0;
  return {
    id: job.jobId,
    page: `jobs/${encodeURIComponent(job.jobId)}`,
    owner: job.owner,
    state: describeState(job),
    work: describeWork(job.asked),
    // A job that has ended needs no bar.
    percent: hasEnded(job) ? undefined : percentDone(job),
    progress: describeProgress(job),
    left: left === undefined ? '' : `about ${describeDuration(left * 1000)} left`,
    speed: describeSpeed(speed),
    frames: describeCount(counts?.frames ?? 0),
    quarantined: describeCount(counts?.quarantined ?? 0),
    time: describeDuration((job.finishedMs || ms) - job.submittedMs),
    out: shownPath(job.spec?.out ?? ''),
    error: job.error,
    waiting: hasEnded(job) || job.paused ? '' : job.waiting,
    reasons: job.reasons.map(describeReason),
    mended: job.mended.map(describeMended),
  };
}

/** The kernels of a job in their order; named pipelines with their names. @param {readonly AskedPipeline[]} asked */
export const describeWork = (asked) =>
  asked.map(({ name, operations }) => (name ? `${name}: ` : '') + operations.join(' → ')).join('; ');

/** @param {NodeStatus} node @param {number} ms @param {Rates} rates */
export function nodeView(node, ms, rates) {
  const { kind = '', name = '' } = node.device ?? {};
  return {
    name: node.name,
    state: nodeState(node),
    lacks: describeLacks(node.lacks),
    device: `${kind}: ${name}`,
    speed: describeSpeed(rates.of(`node ${node.nodeId}`)),
    leases: describeCount(node.leases),
    shards: describeCount(node.shardsDone),
    pixels: describePixels(node.pixelsDone),
    attached: describeDuration(ms - node.attachedMs),
  };
}

/** @param {JobStatus} job */
const isRunning = ({ state }) => state === 'JOB_STATE_RUNNING' || state === 'JOB_STATE_FINALISING';

/**
 * How far a job is: `62 %, 31 of 50 shards`; `ended at 62 %, …` if it ended before it was complete.
 *
 * @param {JobStatus} job
 */
function describeProgress(job) {
  const isEarly = hasEnded(job) && job.state !== 'JOB_STATE_COMPLETE';
  return `${isEarly ? 'ended at ' : ''}${percentDone(job)} %, ${describeShards(job)}`;
}

/** @param {JobStatus} job @returns {State} */
export function describeState(job) {
  const word = stateOf(job);
  const nothing = whyNothingMerged(job);
  if (nothing) return { word: `${word}, but ${nothing}`, tone: 'bad' };
  if (job.paused) return { word: 'paused', tone: 'wait' };
  if (word === 'running' && job.waiting) return { word: 'waiting', tone: 'wait' };
  if (word === 'running' && job.nodes === 0) return { word: 'waiting for a node', tone: 'wait' };
  return { word, tone: tones[word] ?? '' };
}

/** @param {NodeStatus} node @returns {State} */
export function nodeState({ draining, setAsideUntilMs, leases }) {
  if (draining) return { word: 'draining', tone: 'wait' };
  if (setAsideUntilMs > 0) return { word: `set aside until ${describeClock(setAsideUntilMs)}`, tone: 'wait' };
  return { word: leases > 0 ? 'busy' : 'idle', tone: 'good' };
}
