import { isActive } from './active-nodes.ts';
import { jobsInOrder } from './choose-job.ts';
import type { AttachedNode, ScheduledJob, SchedulerState, ShardEntry } from './scheduler-state.ts';

/** Whether the node's credit covers the shard; a node without a lease takes any, or a large one would never run. */
export function fits(node: AttachedNode, costBytes: number): boolean {
  return node.leases.size === 0 || node.leasedBytes + costBytes <= node.creditBytes;
}

/**
 * The shard that `node` gets next, or undefined where none is queued for it. A shard that does not fit the node's remaining
 * credit is waited for rather than passed over: small ones would keep it out for ever.
 */
export function chooseShard(state: SchedulerState, node: AttachedNode, now: number): ShardEntry | undefined {
  for (const job of jobsInOrder(state)) {
    const entry = nextShard(state, job, node, now);
    if (entry) return fits(node, entry.shard.costBytes) ? entry : undefined;
  }
  return undefined;
}

function nextShard(
  state: SchedulerState,
  { retries, fresh }: ScheduledJob,
  node: AttachedNode,
  now: number,
): ShardEntry | undefined {
  return (
    retries.find((entry) => mayHave(state, entry, node, now)) ??
    // What the node has open already; else what nobody has; else what comes next.
    fresh.find(({ place }) => place === node.place) ??
    fresh.find(({ place }) => !place.isTaken) ??
    fresh.find(() => true)
  );
}

/**
 * A shard goes back to a node that failed it, or answered it and is to be checked, only when that is so of every node
 * there is.
 */
function mayHave(state: SchedulerState, entry: ShardEntry, node: AttachedNode, now: number): boolean {
  if (!hasTried(entry, node)) return true;
  for (const other of state.nodes.values()) if (isActive(other, now) && !hasTried(entry, other)) return false;
  return true;
}

export function hasTried({ failedOn, opinions }: ShardEntry, { nodeId }: AttachedNode): boolean {
  return failedOn.includes(nodeId) || opinions.some((opinion) => opinion.nodeId === nodeId);
}
