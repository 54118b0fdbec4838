import { describeShards, hasEnded, isListing, percentDone, secondsLeft } from './progress.js';
import { describeCount, describeDay, describeDuration, describePixels, describeSpeed } from './quantities.js';
import { describeMended, whyNothingMerged } from './sentences.js';

/** @import { JobPause, JobStatus } from '@halogrid/proto' */

/** How far a job is, in one line: `62 %, 31 of 50 shards, about 2 min left`. @param {JobStatus} job */
export function describeHeadline(job) {
  const left = secondsLeft(job);
  const isEarly = hasEnded(job) && job.state !== 'JOB_STATE_COMPLETE';
  return [
    `${isEarly ? 'ended at ' : ''}${percentDone(job)} %`,
    describeShards(job),
    ...(left === undefined ? [] : [`about ${describeDuration(left * 1000)} left`]),
    ...(left === undefined && isListing(job) ? ['time left not known yet'] : []),
  ].join(', ');
}

/**
 * The figures at the top of a job's page: name and value.
 *
 * @param {JobStatus} job
 * @param {number} nowMs of the coordinator's clock
 * @returns {[name: string, value: string][]}
 */
export function jobFigures(job, nowMs) {
  const { counts, submittedMs, finishedMs } = job;
  const isOver = hasEnded(job);
  const ms = Math.max(0, (isOver ? finishedMs : nowMs) - submittedMs);
  // If results were kept, the time does not cover all pixels.
  const mean = ms > 0 && !counts?.kept ? ((counts?.pixels ?? 0) * 1000) / ms : 0;
  return [
    [isOver ? 'Mean throughput' : 'Throughput', describeSpeed(isOver ? mean : (job.pixelsPerSecond ?? 0))],
    ['Pixels', describePixels(counts?.pixels ?? 0)],
    ['Images and frames', `${describeCount(counts?.frames ?? 0)} of ${describeCount(counts?.sources ?? 0)}`],
    ['Quarantined', describeCount(counts?.quarantined ?? 0)],
    ['Nodes', describeCount((isOver ? job.nodesUsed : job.nodes) ?? 0)],
    [isOver ? 'Total time' : 'Time so far', describeDuration(ms)],
  ];
}

/** @param {JobPause} pause */
const describePause = ({ sinceMs, by }) =>
  `Paused since ${describeDay(sinceMs)}${by ? ` by ${by}` : ''}: shards that nodes hold go on, and no more are leased.`;

/**
 * The sentences at the top of a job's page: why it failed, what it waits for, what was left out.
 *
 * @param {JobStatus} job
 */
export function jobSentences(job) {
  const nothing = whyNothingMerged(job);
  return [
    ...(job.error ? [{ tone: 'bad', words: job.error }] : []),
    ...(nothing ? [{ tone: 'bad', words: `It is complete, but ${nothing}.` }] : []),
    ...(job.paused ? [{ tone: 'wait', words: describePause(job.paused) }] : []),
    ...(job.waiting && !hasEnded(job) && !job.paused ? [{ tone: 'wait', words: job.waiting }] : []),
    ...[...job.notes, ...job.mended.map(describeMended)].map((words) => ({ tone: '', words })),
  ];
}
