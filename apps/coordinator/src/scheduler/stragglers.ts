import { isActive } from './active-nodes.ts';
import { fits, reluctance } from './choose-shard.ts';
import { lease } from './leases.ts';
import {
  type AttachedNode,
  plannedForNodes,
  queuedShards,
  type ScheduledJob,
  type ShardEntry,
  type Turn,
} from './scheduler-state.ts';
import { canDo } from './sights.ts';

/** Share of a job that must be done before the rest is judged by it. */
const doneShare = 0.75;
/** A straggler takes more than this many medians and more than `minStragglerMs`: short shards end soon anyway. */
const medians = 2;
export const minStragglerMs = 1000;
/** The most copies of stragglers, as a share of the job's shards: wasted work stays below that. */
const copiesShare = 0.1;

/** Leases shards that take too long to idle nodes as well, near the end of a job; the first answer counts. */
export function copyStragglers<A>(turn: Turn<A>): void {
  const { state, now } = turn;
  let idle: AttachedNode[] | undefined;
  for (const job of state.jobs.values()) {
    const limitMs = stragglerMs(job);
    if (limitMs === undefined || job.isPaused) continue;
    idle ??= [...state.nodes.values()]
      .filter((node) => isActive(node, now) && node.leases.size === 0)
      .sort((a, b) => (b.rate.bytesPerMs ?? 0) - (a.rate.bytesPerMs ?? 0));
    for (const entry of job.open.values()) {
      if (idle.length === 0 || job.copies >= Math.floor(plannedForNodes(job) * copiesShare)) break;
      if (!isStraggler(entry, now - limitMs)) continue;
      const index = idle.findIndex(
        (node) =>
          reluctance(entry, node) === 0 &&
          canDo(node, entry.shard.needs) &&
          entry.held[0]!.node !== node &&
          fits(node, entry),
      );
      if (index < 0) continue;
      job.copies++;
      lease(turn, entry, idle.splice(index, 1)[0]!, 'straggler', 0);
    }
  }
}

/** How long a shard of the job may take; undefined while that is unknown, or nodes have other shards to do. */
function stragglerMs(job: ScheduledJob): number | undefined {
  const planned = plannedForNodes(job);
  const isNearEnd = job.planEnded && planned - job.open.size >= doneShare * planned;
  if (!isNearEnd || queuedShards(job) > 0) return undefined;
  const medianMs = job.durations.median();
  return medianMs === undefined ? undefined : Math.max(minStragglerMs, medians * medianMs);
}

/** Verification is not copied, because the reference is slow. */
function isStraggler({ held, candidates }: ShardEntry, latestMs: number): boolean {
  return held.length === 1 && held[0]!.sinceMs < latestMs && candidates.length === 0;
}
