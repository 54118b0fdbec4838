import { type Lease, PipelineSet, type Source } from '@halogrid/proto';
import { isTraced, traceparentOf } from '@halogrid/service/trace-context';
import type { LeaseOrder } from '../dispatch/node-session.ts';
import { refsOf } from '../job/packed-frames.ts';
import type { ShardWork, SourceRef } from '../job/shard.ts';

/** The lease as the wire carries it; `names` every source, for a node that gets files by number. */
export function toLease({ lease, shard, job, verify }: LeaseOrder, names = false): Lease {
  return {
    ...lease,
    pipeline: job.spec.pipeline,
    // A specification that is kept leaves out what is a default.
    ...(job.spec.pipelines && { pipelines: PipelineSet.fromPartial(job.spec.pipelines) }),
    grid: job.spec.grid,
    // What a check computes is compared and thrown away.
    work: toWork(shard.work, !verify, names),
    scratch: job.scratch,
    wantsMap: job.spec.mapFormat !== 'none' && !verify,
    zarrShards: job.spec.mapFormat === 'zarr',
    costBytes: shard.costBytes,
    verify,
    handOver: '',
    traceparent: traceparentOf(lease.jobId, lease.shard, lease.attempt, isTraced()),
  };
}

function toWork(work: ShardWork, withPreviews: boolean, names: boolean): Lease['work'] {
  const toSource = ({ index, uri, place, version, preview }: SourceRef): Source => {
    return { index, uri, place, version, preview: withPreviews && preview };
  };
  if (work.kind === 'tile') {
    return { $case: 'tile', value: { source: toSource(work.source), ...work.size, rect: work.rect } };
  }
  if (work.kind === 'packed' && !names) {
    return { $case: 'frames', value: { sources: [], block: work.block, anyVersion: !work.isPinned } };
  }
  const segment = work.kind === 'frames' ? work.segment : undefined;
  return { $case: 'frames', value: { sources: refsOf(work).map(toSource), segment } };
}
