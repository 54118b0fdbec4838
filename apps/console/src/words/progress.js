// How far a job is, for the console and for terminals.

/** @import { JobStatus } from '@halogrid/proto' */

const endStates = ['JOB_STATE_COMPLETE', 'JOB_STATE_FAILED', 'JOB_STATE_CANCELLED'];

/** @param {Pick<JobStatus, 'state'>} job */
export const hasEnded = ({ state }) => endStates.includes(state);

/**
 * Whether sources are still listed: more shards may come, and totals are those listed so far.
 *
 * @param {Pick<JobStatus, 'state' | 'planned'>} job
 */
export const isListing = (job) => !job.planned && !hasEnded(job);

/**
 * Percent of the known shards that are done, rounded down, from 0 to 100; below 100 while more may come.
 *
 * @param {Pick<JobStatus, 'state' | 'planned' | 'counts'>} job
 */
export function percentDone(job) {
  const { shards = 0, shardsDone = 0 } = job.counts ?? {};
  if (shards === 0) return job.planned ? 100 : 0;
  return Math.min(isListing(job) ? 99 : 100, Math.floor((100 * shardsDone) / shards));
}

/**
 * Shards done of the known shards: `31 of 50 shards`, `listing…: 31 of at least 50 shards`.
 *
 * @param {Pick<JobStatus, 'state' | 'planned' | 'counts'>} job
 */
export function describeShards(job) {
  const { shards = 0, shardsDone = 0 } = job.counts ?? {};
  if (isListing(job)) return shards === 0 ? 'listing…' : `listing…: ${shardsDone} of at least ${shards} shards`;
  return `${shardsDone} of ${shards} shard${shards === 1 ? '' : 's'}`;
}

/**
 * Seconds to the end at the current speed; undefined if it is not known.
 *
 * @param {Pick<JobStatus, 'state' | 'planned' | 'counts' | 'shardsPerSecond'>} job
 */
export function secondsLeft(job) {
  const { shards = 0, shardsDone = 0 } = job.counts ?? {};
  if (!job.planned || hasEnded(job) || !job.shardsPerSecond || shardsDone >= shards) return undefined;
  return (shards - shardsDone) / job.shardsPerSecond;
}
