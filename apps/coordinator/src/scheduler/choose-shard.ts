import { isActive } from './active-nodes.ts';
import { jobsInOrder } from './choose-job.ts';
import { isSuspect } from './is-poison.ts';
import type { AttachedNode, ScheduledJob, SchedulerState, ShardEntry } from './scheduler-state.ts';
import { canDo } from './sights.ts';

/**
 * Whether the node's credit covers the shard; a node that has some and no lease takes any, or a large one would never
 * run. A shard that
 * may have killed nodes is given to none that holds another.
 */
export function fits(node: AttachedNode, entry: ShardEntry): boolean {
  if (node.leases.size === 0) return node.creditBytes > 0;
  return !isSuspect(entry) && node.leasedBytes + entry.shard.costBytes <= node.creditBytes;
}

/**
 * The shard that `node` gets next, or undefined where none is queued for it. A shard that does not fit the node's
 * remaining credit is waited for rather than passed over: small ones would keep it out for ever.
 */
export function chooseShard(state: SchedulerState, node: AttachedNode, now: number): ShardEntry | undefined {
  for (const job of jobsInOrder(state)) {
    const entry = nextShard(state, job, node, now);
    if (entry) return fits(node, entry) ? entry : undefined;
  }
  return undefined;
}

function nextShard(
  state: SchedulerState,
  { retries, fresh }: ScheduledJob,
  node: AttachedNode,
  now: number,
): ShardEntry | undefined {
  const can = (needs: readonly string[]): boolean => canDo(node, needs);
  return (
    retries.find(can, (entry) => mayHave(state, entry, node, now)) ??
    // What the node has open already; else what nobody has; else what comes next.
    fresh.find(can, ({ place }) => place === node.place) ??
    fresh.find(can, ({ place }) => !place.isTaken) ??
    fresh.find(can, () => true)
  );
}

/** A shard goes to the node unless another that there is suits it better. */
function mayHave(state: SchedulerState, entry: ShardEntry, node: AttachedNode, now: number): boolean {
  if (entry.state.kind === 'queued' && entry.state.notBeforeMs > now) return false;
  const own = reluctance(entry, node);
  if (own === 0) return true;
  for (const other of state.nodes.values()) {
    if (isActive(other, now) && canDo(other, entry.shard.needs) && reluctance(entry, other) < own) return false;
  }
  return true;
}

/**
 * 0 for a node that has not had the shard; more for one that is to verify its own answer, or was lost over it; most for
 * one that failed it.
 */
export function reluctance(entry: ShardEntry, { nodeId, name }: AttachedNode): 0 | 1 | 2 {
  const { failedOn, refusedOn, lostOn, candidates } = entry;
  if (failedOn.includes(nodeId) || refusedOn.includes(nodeId)) return 2;
  if (lostOn.some((loss) => loss.name === name)) return 1;
  return candidates.some((candidate) => candidate.nodeId === nodeId) ? 1 : 0;
}
