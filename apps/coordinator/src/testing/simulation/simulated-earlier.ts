import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import { foundShard, keepPart, shapesOf } from '@halogrid/ledger/testing-memory-parts';
import type { JobWork } from '../../dispatch/job-work.ts';
import { SeededRandom } from './seeded-random.ts';
import { resultsOf, type SimulatedJob } from './simulated-job.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface EarlierWorld {
  clock: VirtualClock;
  seed: number;
  jobOf: (jobId: string) => SimulatedJob;
  /** Throws if the disk of an output is full. */
  checkRoom: (out: string) => void;
}

/**
 * Reads the earlier output of a job: some of the waiting shards at a time, in some time, into parts, for which there
 * may be no room by then. If the coordinator dies meanwhile, they are lost.
 */
export function simulatedEarlier({ clock, seed, jobOf, checkRoom }: EarlierWorld): NonNullable<JobWork['earlier']> {
  // A random stream of its own, so that nodes do the same whatever is kept.
  const random = new SeededRandom(seed ^ 0xea71);
  return ({ jobId, spec }: AcceptedJob) => {
    const shapes = shapesOf(spec);
    return {
      keep: async (shards) => {
        const some = shards.slice(0, random.whole(1, shards.length));
        const ms = random.pick([0, 1, 30, 400, 4000]);
        if (ms > 0) await new Promise<void>((resolve) => clock.after(ms, resolve));
        checkRoom(spec.out);
        const job = jobOf(jobId);
        return some.map(({ shard, work }) =>
          keepPart(shapes, foundShard(work.sources.block, resultsOf(job, shard), shapes)),
        );
      },
      end: async () => {},
    };
  };
}
