import type { Shard } from '@halogrid/jobs/shard';
import type { ScheduledJob } from './scheduler-state.ts';

/** Counts an open shard for its needs. */
export function countNeeds({ needs }: ScheduledJob, shard: Shard): void {
  for (const need of shard.needs ?? []) needs.set(need, (needs.get(need) ?? 0) + 1);
}

/** Uncounts a done shard, and removes needs that no other open shard has. */
export function forgetNeeds({ needs, lackedSinceMs }: ScheduledJob, shard: Shard): void {
  for (const need of shard.needs ?? []) {
    const left = needs.get(need)! - 1;
    needs.set(need, left);
    if (left > 0) continue;
    needs.delete(need);
    lackedSinceMs.delete(need);
  }
}
