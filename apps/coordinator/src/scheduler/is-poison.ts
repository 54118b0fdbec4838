import { isActive } from './active-nodes.ts';
import type { SchedulerState, ShardEntry } from './scheduler-state.ts';

/** Failures after which a shard is given up, on two nodes at least where there are two. */
const maxFailures = 3;
/**
 * Nodes that died while they held a shard, after which it is given up as their killer. A node that has attached again
 * under the same id is not dead: its connection broke, which is no shard's fault.
 */
export const maxDeadNodes = 3;
/**
 * Times a shard's node was lost, whether or not it came back, after which it is given up: a node that is restarted under
 * its old id looks like one that reconnected.
 */
export const maxLosses = 10;

/**
 * Whether the shard failed too often to be tried again: what fails on one node alone may be that node's fault, and is, where
 * that is the only node and has failed everything else, too.
 */
export function isPoison(state: SchedulerState, { failedOn }: ShardEntry, now: number): boolean {
  if (failedOn.length < maxFailures) return false;
  if (new Set(failedOn).size >= 2) return true;
  for (const node of state.nodes.values()) if (isActive(node, now) && !failedOn.includes(node.nodeId)) return false;
  return state.nodes.size > 1 || !state.nodesById.get(failedOn[0]!)?.health.failsEverything;
}

/** Nodes lost over a shard, after which it is leased alone: whatever a killer shares its node with is blamed too. */
const lossesToIsolate = 2;

export function isSuspect({ lostOn }: ShardEntry): boolean {
  return lostOn.length >= lossesToIsolate;
}

/** Whether too many nodes were lost over the shard. */
export function isKiller({ nodesById }: SchedulerState, { lostOn }: ShardEntry): boolean {
  const dead = new Set(lostOn.filter((nodeId) => !nodesById.has(nodeId)));
  return dead.size >= maxDeadNodes || lostOn.length >= maxLosses;
}
