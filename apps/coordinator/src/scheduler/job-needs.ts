import type { Shard } from '@halogrid/jobs/shard';
import type { ScheduledJob } from './scheduler-state.ts';

/** One more shard that is not done needs it. */
export function countNeeds({ needs }: ScheduledJob, shard: Shard): void {
  for (const need of shard.needs ?? []) needs.set(need, (needs.get(need) ?? 0) + 1);
}

/** The shard is done: where it was the last one, nothing needs any more what it needed. */
export function forgetNeeds({ needs, lackedSinceMs }: ScheduledJob, shard: Shard): void {
  for (const need of shard.needs ?? []) {
    const left = needs.get(need)! - 1;
    needs.set(need, left);
    if (left > 0) continue;
    needs.delete(need);
    lackedSinceMs.delete(need);
  }
}
