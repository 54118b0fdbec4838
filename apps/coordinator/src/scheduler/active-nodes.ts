import type { AttachedNode, SchedulerState } from './scheduler-state.ts';

/** Whether the node is given shards. */
export function isActive(node: AttachedNode, now: number): boolean {
  return !node.isDraining && !node.health.isAside(now);
}

/** Counts the nodes that are given shards. A node without an answer yet counts like the mean of the others. */
export function countActive(state: SchedulerState, now: number): void {
  let known = 0;
  let rate = 0;
  state.activeNodes = 0;
  for (const node of state.nodes.values()) {
    if (!isActive(node, now)) continue;
    state.activeNodes++;
    const { bytesPerMs } = node.rate;
    if (bytesPerMs === undefined) continue;
    known++;
    rate += bytesPerMs;
  }
  state.totalRate = known > 0 ? (rate / known) * state.activeNodes : 0;
}

/** The share of all work that the node would do at its rate, in (0, 1]. */
export function shareOf({ activeNodes, totalRate }: SchedulerState, node: AttachedNode): number {
  const { bytesPerMs } = node.rate;
  const isKnown = bytesPerMs !== undefined && totalRate > 0;
  return Math.min(1, isKnown ? bytesPerMs / totalRate : 1 / Math.max(1, activeNodes));
}
