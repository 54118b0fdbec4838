import type { Lease, Source } from '@halogrid/proto';
import { isTraced, traceparentOf } from '@halogrid/service/trace-context';
import type { LeaseOrder } from '../dispatch/node-session.ts';
import type { ShardWork, SourceRef } from '../job/shard.ts';

/** The lease as the wire carries it. */
export function toLease({ lease, shard, job, verify }: LeaseOrder): Lease {
  return {
    ...lease,
    pipeline: job.spec.pipeline,
    ...(job.spec.pipelines && { pipelines: job.spec.pipelines }),
    grid: job.spec.grid,
    // What a check computes is compared and thrown away.
    work: toWork(shard.work, !verify),
    scratch: job.scratch,
    wantsMap: job.spec.mapFormat !== 'none' && !verify,
    zarrShards: job.spec.mapFormat === 'zarr',
    costBytes: shard.costBytes,
    verify,
    handOver: '',
    traceparent: traceparentOf(lease.jobId, lease.shard, lease.attempt, isTraced()),
  };
}

function toWork(work: ShardWork, withPreviews: boolean): Lease['work'] {
  const toSource = ({ index, uri, place, version, preview }: SourceRef): Source => {
    return { index, uri, place, version, preview: withPreviews && preview };
  };
  switch (work.kind) {
    case 'tile':
      return {
        $case: 'tile',
        value: { source: toSource(work.source), ...work.size, rect: work.rect },
      };
    case 'frames':
      return { $case: 'frames', value: { sources: work.sources.map(toSource), segment: work.segment } };
  }
}
