import type { Lease } from '@halogrid/proto';
import type { LeaseOrder } from '../node-session.ts';
import { previewSources } from '../output/finalise.ts';
import type { ShardWork } from '../shard.ts';

/** The lease as the wire carries it. */
export function toLease({ lease, shard, job }: LeaseOrder): Lease {
  return {
    ...lease,
    pipeline: job.spec.pipeline,
    grid: job.spec.grid,
    work: toWork(shard.work),
    scratch: job.scratch,
    wantsMap: job.spec.mapFormat !== 'none',
    previews: previewSources,
    costBytes: shard.costBytes,
  };
}

function toWork(work: ShardWork): Lease['work'] {
  switch (work.kind) {
    case 'tile':
      return { $case: 'tile', value: { source: work.source, ...work.size, rect: work.rect, version: work.version } };
    case 'frames':
      return { $case: 'frames', value: { sources: work.sources } };
  }
}
