import { acceptAnswer } from './candidates.ts';
import type { Candidate, LeaseId, SchedulerEvent, Verdict } from './events.ts';
import { leaseToAll, requeue } from './leases.ts';
import type { SchedulerState, ShardEntry, Turn } from './scheduler-state.ts';
import { setAsideBad } from './set-aside-bad.ts';
import { lookedAtOutput, loseSight, setLacked, someNodeCouldHave } from './sights.ts';

/** Has the driver find out whether the unreadable sources or the node are at fault. */
export function vet<A>({ commands }: Turn<A>, entry: ShardEntry, candidate: Candidate): void {
  entry.vetting = candidate.lease.attempt;
  commands.push({ kind: 'VetAnswer', shard: entry.shard, candidate, delays: entry.delays });
}

/** The outcome of vetting. It is ignored if another answer came first, or if the shard needs none any more. */
export function answerVetted<A>(
  turn: Turn<A>,
  { candidate, verdict }: { candidate: Candidate; verdict: Verdict },
): void {
  const { lease, nodeId } = candidate;
  const entry = vettedEntry(turn, lease);
  if (!entry) return;
  const { state, now } = turn;
  if (verdict.kind === 'upheld') {
    acceptAnswer(turn, entry, candidate);
    return;
  }
  if (verdict.kind === 'refuted') {
    countFailure(state, nodeId);
    blameNode(turn, entry, nodeId, verdict.need, verdict.reason);
  }
  if (verdict.kind === 'away') hostIsAway(turn, nodeId, verdict.need, verdict.reason);
  if (verdict.kind === 'later') entry.delays++;
  if (verdict.kind === 'untold') {
    entry.refusedOn = [...entry.refusedOn, nodeId];
    if (!someNodeCouldHave(state, entry, now, (node) => !entry.refusedOn.includes(node.nodeId))) {
      acceptAnswer(turn, entry, candidate);
      return;
    }
  }
  turn.commands.push({ kind: 'RecordSetback', nodeId, lease, setback: 'failed', error: verdict.reason });
  requeue(turn, entry, 'failed', verdict.kind === 'later' ? now + state.tickMs * laterTicks : now);
  leaseToAll(turn);
}

/** The pause, in ticks, before a shard whose sources may soon be readable is leased again. */
const laterTicks = 10;

/** The entry whose lease was vetted, if its state is unchanged. */
function vettedEntry<A>({ state }: Turn<A>, lease: LeaseId): ShardEntry | undefined {
  const entry = state.jobs.get(lease.jobId)?.open.get(lease.shard);
  if (entry?.vetting !== lease.attempt) return undefined;
  entry.vetting = undefined;
  return entry;
}

/**
 * The host is away: the node is asked again later, like a node that lacks the host, and neither the node nor the shard
 * is blamed. Usually, other shards of the job have failed in the same way.
 */
function hostIsAway<A>(turn: Turn<A>, nodeId: string, need: string, reason: string): void {
  const node = turn.state.nodesById.get(nodeId);
  if (node && node.sights.get(need)?.kind !== 'lacking') setLacked(turn, node, need, reason);
}

export function countFailure({ failures }: SchedulerState, nodeId: string): void {
  failures.set(nodeId, (failures.get(nodeId) ?? 0) + 1);
}

/** The node lacks what the shard needs; the shard is not blamed. */
export function blameNode<A>(
  turn: Turn<A>,
  entry: ShardEntry,
  nodeId: string,
  need: string | undefined,
  reason: string,
): void {
  entry.refusedOn = [...entry.refusedOn, nodeId];
  const node = turn.state.nodesById.get(nodeId);
  if (!node) return;
  if (need !== undefined && entry.shard.needs?.includes(need)) loseSight(turn, node, need, reason);
  else {
    node.health.add(true, entry);
    setAsideBad(turn, nodeId, reason);
  }
}

/** The node cannot write there, and the shard is not blamed. If the coordinator cannot either, the job waits. */
export function outputVetted<A>(
  turn: Turn<A>,
  { session, lease, failure, need, own }: Extract<SchedulerEvent<A>, { kind: 'OutputVetted' }>,
): void {
  const entry = vettedEntry(turn, lease);
  if (!entry) return;
  const { state, commands } = turn;
  const nodeId = state.nodes.get(session)?.nodeId ?? '';
  commands.push({ kind: 'RecordSetback', nodeId, lease, setback: 'failed', error: failure.error });
  lookedAtOutput(turn, need, own);
  blameNode(turn, entry, nodeId, need, own?.error ?? failure.error);
  requeue(turn, entry, 'failed');
  leaseToAll(turn);
}
