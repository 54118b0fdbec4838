import type { Lease, Source } from '@halogrid/proto';
import type { LeaseOrder } from '../dispatch/node-session.ts';
import { previewSources } from '../job/picture-files.ts';
import type { ShardWork, SourceRef } from '../job/shard.ts';

/** The lease as the wire carries it. */
export function toLease({ lease, shard, job, verify }: LeaseOrder): Lease {
  return {
    ...lease,
    pipeline: job.spec.pipeline,
    grid: job.spec.grid,
    work: toWork(shard.work),
    scratch: job.scratch,
    // What a check computes is compared and thrown away.
    wantsMap: job.spec.mapFormat !== 'none' && !verify,
    zarrShards: job.spec.mapFormat === 'zarr',
    previews: verify ? 0 : previewSources,
    costBytes: shard.costBytes,
    verify,
    handOver: '',
  };
}

const toSource = ({ index, uri, place, version }: SourceRef): Source => ({ index, uri, place, version });

function toWork(work: ShardWork): Lease['work'] {
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
