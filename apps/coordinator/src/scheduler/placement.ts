import type { AttachedNode, ScheduledJob, SchedulerState, ShardEntry } from './scheduler-state.ts';

/**
 * Leases a node holds at most: enough to keep 16 decoding threads busy through a network round trip when every shard is a
 * single frame, and few enough that a killed node sets little back.
 */
const maxLeases = 64;
/** Leases a node may always hold: one being read, one decoded, one computed, one on its way. */
const minLeases = 4;

/**
 * Shards of a job that may be settling while others are leased: a ledger or a disk that cannot keep up with the nodes holds
 * them up, so that answers never pile up beyond these and the leases. Enough for a ledger that commits several at once.
 */
export const maxSettling = 16;

/**
 * Leases that each node may hold now: half its fair share of what is open. Near the end of the work shards are thus held
 * back for whichever node is free first, and a node that joins late finds some.
 */
export function leaseLimit(openShards: number, activeNodes: number): number {
  const fairShare = Math.ceil(openShards / Math.max(1, activeNodes) / 2);
  return Math.min(maxLeases, Math.max(minLeases, fairShare));
}

/** Whether the node's credit covers the shard; a node without a lease takes any, or a large one would never run. */
export function fits(node: AttachedNode, costBytes: number): boolean {
  return node.leases.size === 0 || node.leasedBytes + costBytes <= node.creditBytes;
}

/**
 * The shard that `node` gets next, or undefined where none is queued for it. Jobs take turns. A shard that does not fit
 * the node's remaining credit is waited for rather than passed over: small ones would keep it out for ever.
 */
export function chooseShard(state: SchedulerState, node: AttachedNode): ShardEntry | undefined {
  const jobs = state.rotation;
  for (let i = 0; i < jobs.length; i++) {
    const index = (state.turn + i) % jobs.length;
    const entry = nextShard(state, jobs[index]!, node);
    if (!entry) continue;
    if (!fits(node, entry.shard.costBytes)) return undefined;
    state.turn = (index + 1) % jobs.length;
    return entry;
  }
  return undefined;
}

function nextShard(state: SchedulerState, job: ScheduledJob, node: AttachedNode): ShardEntry | undefined {
  if (job.settling >= maxSettling) return undefined;
  return job.retries.find((entry) => mayRetry(state, entry, node)) ?? job.fresh.find(() => true);
}

/** A shard goes back to a node that failed it only when every node there is failed it. */
function mayRetry(state: SchedulerState, entry: ShardEntry, node: AttachedNode): boolean {
  if (!entry.failedOn.includes(node.nodeId)) return true;
  for (const other of state.nodes.values()) {
    if (!other.isDraining && !entry.failedOn.includes(other.nodeId)) return false;
  }
  return true;
}
