import type { ShardWork } from '@halogrid/jobs/shard';
import { type Lease, PipelineSet } from '@halogrid/proto';
import { isZarr } from '@halogrid/results/map-format';
import { isTraced, traceparentOf } from '@halogrid/service/trace-context';
import type { LeaseOrder } from '../dispatch/node-session.ts';

/** The message about a lease. */
export function toLease({ lease, shard, job, verify }: LeaseOrder): Lease {
  return {
    ...lease,
    pipeline: job.spec.pipeline,
    // A specification from a ledger leaves out defaults, which the message needs.
    pipelines: job.spec.pipelines && PipelineSet.fromPartial(job.spec.pipelines),
    grid: job.spec.grid,
    captured: job.spec.captured,
    nodata: job.spec.nodata,
    level: job.spec.level,
    page: job.spec.page,
    band: job.spec.band,
    scale: job.spec.scale,
    work: toWork(shard.work),
    sources: shard.work.sources.block,
    scratch: job.scratch,
    wantsMap: job.spec.mapFormat !== 'none' && !verify,
    zarrShards: isZarr(job.spec.mapFormat),
    costBytes: shard.costBytes,
    verify,
    handOver: '',
    traceparent: traceparentOf(lease.jobId, lease.shard, lease.attempt, isTraced()),
  };
}

function toWork(work: ShardWork): Lease['work'] {
  if (work.kind === 'tile') return { $case: 'tile', value: { ...work.size, rect: work.rect } };
  if (work.kind === 'kept') throw new TypeError('Shards of kept sources are not leased to nodes');
  return { $case: 'frames', value: { segment: work.segment } };
}
