import type { SchedulerState, ShardEntry } from './scheduler-state.ts';
import { someNodeCouldHave } from './sights.ts';

/** Failures after which a shard is given up, once every node that could do it has failed it. */
export const maxFailures = 3;
/**
 * How many nodes may die while they hold a shard before it is given up as their killer. A node that has attached again
 * under the same id is not dead: its connection broke, which is not the shard's fault.
 */
export const maxDeadNodes = 3;
/**
 * How often a shard's node may be lost, whether or not it comes back, before the shard is given up: a node that
 * restarts under its old id looks like one that reconnected.
 */
export const maxLosses = 10;

/**
 * Whether the shard failed too often to be tried again. As long as another node could do it, the nodes that failed it
 * may be at fault. They are at fault if there are no others, and none of them has ever computed anything.
 */
export function isPoison(state: SchedulerState, entry: ShardEntry, now: number): boolean {
  const { failedOn } = entry;
  if (failedOn.length < maxFailures) return false;
  if (someNodeCouldHave(state, entry, now, ({ nodeId }) => !failedOn.includes(nodeId))) return false;
  return !failedOn.every((nodeId) => state.nodesById.get(nodeId)?.health.failsEverything);
}

/** How many nodes may be lost over a shard before it is leased alone: other shards on a killed node are blamed too. */
const lossesToIsolate = 2;

export function isSuspect({ lostOn }: ShardEntry): boolean {
  return lostOn.length >= lossesToIsolate;
}

/**
 * Whether too many nodes were lost over the shard. If it was always the same node, restarted, that node may be too
 * small or broken: another node that could do the shard gets it first.
 */
export function isKiller(state: SchedulerState, entry: ShardEntry, now: number): boolean {
  const { lostOn } = entry;
  const dead = new Set(lostOn.flatMap(({ nodeId }) => (state.nodesById.has(nodeId) ? [] : [nodeId])));
  if (dead.size < maxDeadNodes && lostOn.length < maxLosses) return false;
  const names = new Set(lostOn.map(({ name }) => name));
  if (names.size > 1) return true;
  return !someNodeCouldHave(state, entry, now, ({ name }) => !names.has(name));
}
