import type { BroughtLease, SchedulerEvent } from './events.ts';
import { hold, isToBeVerified, leaseId, leaseTo, unqueue } from './leases.ts';
import type { AttachedNode, Attempt, ShardEntry, Turn } from './scheduler-state.ts';

/** An attached node brings along leases that another coordinator gave it, for a job that is led here now. */
export function nodeBrought<A>(turn: Turn<A>, event: Extract<SchedulerEvent<A>, { kind: 'NodeBrought' }>): void {
  const node = turn.state.nodes.get(event.session);
  if (!node) return;
  node.creditBytes = event.creditBytes;
  adoptLeases(turn, node, event.brought);
  leaseTo(turn, node);
}

/**
 * Takes over leases that a joining node brings along: the node still works on them, even if it was taken for lost. Each
 * goes on under the epoch of its job, with its attempt number, so that its answer belongs to a current lease. Leases of
 * shards that are done or not needed any more are dropped.
 */
export function adoptLeases<A>(turn: Turn<A>, node: AttachedNode, brought: readonly BroughtLease[]): void {
  const { state, now, commands } = turn;
  for (const lease of brought) {
    const entry = state.jobs.get(lease.jobId)?.open.get(lease.shard);
    if (!entry) continue;
    forgive(entry, node.nodeId);
    if (lease.epoch > entry.job.epoch) continue;
    const { attempt, verify, inPart } = lease;
    if (!isWanted(entry, node, lease)) {
      // The node forgets it. If it was the last one of the shard, no node brings that any more.
      if (entry.state.kind === 'queued' && entry.state.reason === 'lost' && attempt >= entry.attempts) {
        entry.attempts = attempt;
        entry.state.notBeforeMs = Math.min(entry.state.notBeforeMs, now);
      }
      continue;
    }
    unqueue(entry);
    // The last leases before a crash may be missing in the ledger.
    entry.attempts = Math.max(entry.attempts, attempt);
    const inPartSinceMs = inPart ? now : undefined;
    const held: Attempt = { entry, node, number: attempt, sinceMs: now, verify, isAdopted: true, inPartSinceMs };
    hold(turn, held);
    commands.push({ kind: 'AdoptShard', session: node.session, lease: leaseId(held), verify, inPart });
  }
}

/** Removes the node's last loss from the shard: the node is back, so the shard did not kill it. */
function forgive(entry: ShardEntry, nodeId: string): void {
  const last = entry.lostOn.findLastIndex((loss) => loss.nodeId === nodeId);
  if (last >= 0) entry.lostOn = entry.lostOn.toSpliced(last, 1);
}

/**
 * Whether the lease can go on. Another node may hold the shard by now: then the first answer counts, as with a copy of
 * a straggler.
 */
function isWanted(entry: ShardEntry, node: AttachedNode, { verify, attempt, inPart }: BroughtLease): boolean {
  const { state, held, shard } = entry;
  if (state.kind === 'settling' || verify !== isToBeVerified(entry) || attempt < 1) return false;
  // A node brings along what it has answered, too, if the answer may be lost.
  if (entry.answered.includes(attempt)) return false;
  if (held.length > 1 || held.some((other) => other.node === node)) return false;
  // A node's leases stay within its credit, except that a single lease may exceed it.
  return inPart || node.computing === 0 || node.leasedBytes + shard.costBytes <= node.creditBytes;
}
