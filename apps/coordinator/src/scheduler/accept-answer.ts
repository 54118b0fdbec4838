import type { Opinion } from './events.ts';
import { hear } from './opinions.ts';
import type { ShardEntry, Turn } from './scheduler-state.ts';
import { setAsideBad } from './set-aside-bad.ts';
import { confirmSights } from './sights.ts';

/** Takes an answer for good. */
export function accept<A>(turn: Turn<A>, entry: ShardEntry, opinion: Opinion): void {
  const node = turn.state.nodesById.get(opinion.nodeId);
  if (node) {
    node.health.add(false);
    if (opinion.answer.goodShare !== 0) node.isOnProbation = false;
    confirmSights(node, entry);
  }
  // What failed elsewhere is computed here.
  for (const nodeId of entry.failedOn) setAsideBad(turn, nodeId, 'Another node could compute it');
  hear(turn, entry, opinion);
}
