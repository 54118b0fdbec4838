import { isActive } from './active-nodes.ts';
import { jobsInOrder } from './choose-job.ts';
import { isSuspect } from './is-poison.ts';
import type { AttachedNode, ScheduledJob, SchedulerState, ShardEntry } from './scheduler-state.ts';
import { canDo } from './sights.ts';

/**
 * Whether the node's credit covers the shard. A node with credit that computes nothing takes any shard, or a large one
 * would never run. A node with leases gets no shard that may have killed nodes.
 */
export function fits(node: AttachedNode, entry: ShardEntry): boolean {
  if (node.leases.size > 0 && isSuspect(entry)) return false;
  if (node.computing === 0) return node.creditBytes > 0;
  return node.leasedBytes + entry.shard.costBytes <= node.creditBytes;
}

/**
 * The shard that `node` gets next, or undefined if none is queued for it, or if the next one does not fit its credit.
 * Smaller shards do not overtake that one: they would keep it out forever.
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
    // First a shard of the file or folder that the node read last, then of one that no node has begun, then any.
    fresh.find(can, ({ place }) => place === node.place) ??
    fresh.find(can, ({ place }) => !place.isTaken) ??
    fresh.find(can, () => true)
  );
}

/** A shard goes to the node unless another attached node suits it better. */
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
 * How badly the node suits the shard: 0 if it has not had the shard; more if it would verify its own answer, or was
 * lost over the shard; most if it failed the shard.
 */
export function reluctance(entry: ShardEntry, { nodeId, name }: AttachedNode): 0 | 1 | 2 {
  const { failedOn, refusedOn, lostOn, candidates } = entry;
  if (failedOn.includes(nodeId) || refusedOn.includes(nodeId)) return 2;
  if (lostOn.some((loss) => loss.name === name)) return 1;
  return candidates.some((candidate) => candidate.nodeId === nodeId) ? 1 : 0;
}
