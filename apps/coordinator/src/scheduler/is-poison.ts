import type { SchedulerState, ShardEntry } from './scheduler-state.ts';
import { someNodeCouldHave } from './sights.ts';

/** Failures after which a shard is given up, once every node that could have it has failed it. */
export const maxFailures = 3;
/**
 * Nodes that died while they held a shard, after which it is given up as their killer. A node that has attached again
 * under the same id is not dead: its connection broke, which is no shard's fault.
 */
export const maxDeadNodes = 3;
/**
 * Times a shard's node was lost, whether or not it came back, after which it is given up: a node that is restarted
 * under its old id looks like one that reconnected.
 */
export const maxLosses = 10;

/**
 * Whether the shard failed too often to be tried again. What fails on some nodes may be their fault as long as another
 * could have it, and is, where these are all that there are and none of them has ever computed anything.
 */
export function isPoison(state: SchedulerState, entry: ShardEntry, now: number): boolean {
  const { failedOn } = entry;
  if (failedOn.length < maxFailures) return false;
  if (someNodeCouldHave(state, entry, now, ({ nodeId }) => !failedOn.includes(nodeId))) return false;
  return !failedOn.every((nodeId) => state.nodesById.get(nodeId)?.health.failsEverything);
}

/** Nodes lost over a shard, after which it is leased alone: whatever a killer shares its node with is blamed too. */
const lossesToIsolate = 2;

export function isSuspect({ lostOn }: ShardEntry): boolean {
  return lostOn.length >= lossesToIsolate;
}

/**
 * Whether too many nodes were lost over the shard. Where it was always the same one, started again, that may be too
 * small or broken: another that could have the shard gets it first.
 */
export function isKiller(state: SchedulerState, entry: ShardEntry, now: number): boolean {
  const { lostOn } = entry;
  const dead = new Set(lostOn.flatMap(({ nodeId }) => (state.nodesById.has(nodeId) ? [] : [nodeId])));
  if (dead.size < maxDeadNodes && lostOn.length < maxLosses) return false;
  const names = new Set(lostOn.map(({ name }) => name));
  if (names.size > 1) return true;
  return !someNodeCouldHave(state, entry, now, ({ name }) => !names.has(name));
}
