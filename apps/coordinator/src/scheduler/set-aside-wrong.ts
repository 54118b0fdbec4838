import type { LeaseId } from './events.ts';
import { shareAnew } from './leases.ts';
import { removeNode } from './node-events.ts';
import type { Turn } from './scheduler-state.ts';

/** Why a node that answered wrongly was sent away. */
export const otherThanReference =
  'It gave another result for a shard than the reference; check its device and driver, then start it again';
export const otherThanAnswered =
  'It wrote other results of a shard than it had answered; check its memory and disk, then start it again';

/** Sends the node away for good, and forgets its answers for shards that are not committed. */
export function setAsideWrong<A>(turn: Turn<A>, nodeId: string, lease: LeaseId, reason: string): void {
  const { state, commands } = turn;
  commands.push({ kind: 'RecordWrongAnswer', nodeId, lease });
  state.wrongNodes.set(nodeId, reason);
  for (const job of state.jobs.values()) {
    for (const entry of job.open.values()) {
      if (entry.committed || entry.candidates.length === 0) continue;
      entry.candidates = entry.candidates.filter((candidate) => candidate.nodeId !== nodeId);
    }
  }
  const node = state.nodesById.get(nodeId);
  if (!node) return;
  removeNode(turn, node, false);
  commands.push({ kind: 'DropNode', session: node.session, lost: true, isFinal: true, reason });
  shareAnew(turn);
}
