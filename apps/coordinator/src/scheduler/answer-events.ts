import type { Failure, LeaseId } from './events.ts';
import { findLease, leaseTo, leaseToAll, release, retryFailed } from './leases.ts';
import type { EntryState, ShardEntry, Turn } from './scheduler-state.ts';

export function shardCompleted<A>(turn: Turn<A>, event: { session: number; lease: LeaseId; answer: A }): void {
  const { session, lease, answer } = event;
  const current = currentLease(turn, session, lease);
  if (!current) return;
  const { node, sinceMs: leasedAtMs } = current.leased;
  release(current.entry);
  turn.commands.push({ kind: 'CommitShard', session, lease, leasedAtMs, answer });
  leaseTo(turn, node);
}

export function shardFailed<A>(turn: Turn<A>, event: { session: number; lease: LeaseId; failure: Failure }): void {
  const { session, lease, failure } = event;
  const current = currentLease(turn, session, lease);
  if (!current) return;
  release(current.entry);
  retryFailed(turn, current.entry, lease, failure);
  leaseToAll(turn);
}

export function commitRejected<A>(turn: Turn<A>, event: { lease: LeaseId; error: string }): void {
  const { lease, error } = event;
  const entry = turn.state.jobs.get(lease.jobId)?.open.get(lease.shard);
  if (!entry) return;
  retryFailed(turn, entry, lease, { error, isOutput: false });
  leaseToAll(turn);
}

/** What the node answers for; an answer to any other lease is recorded as given in vain, and changes nothing. */
function currentLease<A>(
  { state, commands }: Turn<A>,
  session: number,
  lease: LeaseId,
): { entry: ShardEntry; leased: EntryState & { kind: 'leased' } } | undefined {
  const node = state.nodes.get(session);
  if (!node) return undefined;
  const found = findLease(state, node, lease);
  if (typeof found === 'object') return found;
  const { jobId, shard, attempt } = lease;
  const error = `No such lease is current: job ${jobId}, shard ${shard}, attempt ${attempt}`;
  commands.push({ kind: 'RecordSetback', nodeId: node.nodeId, lease, setback: found, error });
  return undefined;
}
