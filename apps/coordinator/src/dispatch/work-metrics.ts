import { stageNames } from '@halogrid/jobs/shard';
import { kernelNames } from '@halogrid/kernels';
import type { Registry } from '@halogrid/service';
import { Counter, Gauge, Histogram, histogramOfExemplars, waitBuckets, workBuckets } from '@halogrid/service/metrics';

/** The kinds of searchers of an index. */
const searchers = ['nodes', 'coordinator', 'both'] as const;

export type Metrics = ReturnType<typeof createMetrics>;

/** What the coordinator counts and times as it happens. */
export function createMetrics(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name: `halogrid_${name}`, help, labelNames, registers });
  const seconds = <L extends string>(name: string, help: string, buckets: number[], labelNames: L[] = []) =>
    new Histogram({ name: `halogrid_${name}`, help, labelNames, registers, buckets });
  /** A histogram of seconds of shards: each bucket has the trace of the job that was last counted in it. */
  const shardSeconds = (name: string, help: string, buckets: number[], labelNames: 'kernel'[] = []) =>
    histogramOfExemplars(registry, { name: `halogrid_${name}`, help, labelNames, buckets });

  const metrics = {
    jobsEnded: counter('jobs_ended_total', 'Jobs that ended, by how: complete, failed or cancelled.', ['state']),
    shardsFinished: counter(
      'shards_finished_total',
      'Leases that ended with an answer or with giving up on the shard, by what became of it.',
      ['kernel', 'outcome'],
    ),
    shardAttempts: counter('shard_attempts_total', 'Leases given, by why the shard needed one.', ['reason']),
    leaseExpirations: counter(
      'lease_expirations_total',
      'Leases that ended without an answer as their node went away and did not bring them back.',
    ),
    shardQueueSeconds: shardSeconds(
      'shard_queue_duration_seconds',
      'Time that a shard waited for the lease it was given.',
      waitBuckets,
    ),
    shardSeconds: shardSeconds(
      'shard_duration_seconds',
      'Time from the lease of a shard to its commit in the ledger.',
      workBuckets,
      ['kernel'],
    ),
    inputPixels: counter('input_pixels_total', 'Pixels whose results were merged.', ['kernel']),
    inputFrames: counter('input_frames_total', 'Images and frames whose last part was merged.', ['kernel']),
    inputBytes: counter('input_bytes_total', 'Encoded bytes that nodes read from sources, for merged results.'),
    quarantined: counter('quarantined_total', 'Inputs that were set aside with an error, by where it arose.', [
      'stage',
    ]),
    mismatches: counter('shard_disputes_total', 'Times that answers for a shard differed and another was asked for.'),
    wrongAnswers: counter(
      'result_mismatches_total',
      'Answers that two others contradicted, by the node that gave them; it is not given shards until it restarts.',
      ['node'],
    ),
    nodesSetAside: counter(
      'nodes_set_aside_total',
      'Times that a node got no shards for a while, as it failed too often.',
    ),
    shardsSkipped: counter(
      'shards_skipped_total',
      'Tiles that were not leased, as their image was set aside for another of its tiles.',
    ),
    lacksFound: counter(
      'nodes_lacking_total',
      'Times that a node turned out not to be able to do what shards needed, and got no more of these.',
    ),
    checkedShards: counter(
      'checked_shards_total',
      'Leases to compute a shard again with the reference, for comparison.',
    ),
    nodesLost: counter('nodes_lost_total', 'Nodes that fell silent or whose connection broke.'),
    mergeSeconds: shardSeconds(
      'merge_duration_seconds',
      'Time the ledger took to commit and merge one shard.',
      workBuckets,
    ),
    stageSeconds: counter('stage_seconds_total', 'Time that nodes spent on merged shards, by stage.', ['stage']),
    searches: counter('searches_total', 'Searches of indexes, by who looked: nodes, the coordinator, or both.', ['by']),
    searchSeconds: seconds(
      'search_duration_seconds',
      'Time that a search of an index took, without that in which it waited for others, by who looked.',
      workBuckets,
      ['by'],
    ),
    searchedFrames: counter(
      'searched_frames_total',
      'Frames of indexes that were looked through, by the kind of the device of a node, or coordinator.',
      ['device'],
    ),
    searchPartsFailed: counter(
      'search_parts_failed_total',
      'Parts of searches that were looked through elsewhere, as their node did not answer well or in time.',
    ),
    lastResult: new Gauge({
      name: 'halogrid_last_result_timestamp_seconds',
      help: 'When a result was last merged, in seconds since 1970; absent until one was.',
      registers,
    }),
  };

  // No sample before the first event, because 0 would mean 1970.
  metrics.lastResult.remove();
  // Other series start at 0, so that a rate sees the first event.
  for (const reason of ['first', 'failed', 'lost', 'check', 'straggler']) metrics.shardAttempts.inc({ reason }, 0);
  for (const by of searchers) {
    metrics.searches.inc({ by }, 0);
    metrics.searchSeconds.zero({ by });
  }
  for (const device of ['gpu', 'software', 'cpu', 'coordinator']) metrics.searchedFrames.inc({ device }, 0);
  for (const state of ['complete', 'failed', 'cancelled']) metrics.jobsEnded.inc({ state }, 0);
  for (const stage of stageNames) metrics.stageSeconds.inc({ stage }, 0);
  for (const stage of ['read', 'decode', 'compute']) metrics.quarantined.inc({ stage }, 0);
  for (const kernel of kernelNames) {
    metrics.inputPixels.inc({ kernel }, 0);
    metrics.inputFrames.inc({ kernel }, 0);
    for (const outcome of ['ok', 'retry', 'quarantined', 'duplicate', 'stale']) {
      metrics.shardsFinished.inc({ kernel, outcome }, 0);
    }
  }
  return metrics;
}
