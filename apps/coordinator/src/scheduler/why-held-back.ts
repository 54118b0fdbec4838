import { isSuspect, maxFailures } from './is-poison.ts';
import type { ScheduledJob, SchedulerState, ShardEntry } from './scheduler-state.ts';

/**
 * Why nothing of the job is leased though nodes are attached: all shards that are left have been leased in vain, and
 * are not leased again for a while. Undefined if a shard is leased or could be, if the coordinator does some itself, or
 * if the job is paused.
 */
export function whyHeldBack(
  { nodes }: SchedulerState,
  { open, fresh, keeping, isPaused }: ScheduledJob,
  now: number,
): string | undefined {
  if (nodes.size === 0 || fresh.size > 0 || keeping.size > 0 || isPaused) return undefined;
  let longest: { entry: ShardEntry; seconds: number } | undefined;
  for (const entry of open.values()) {
    if (entry.state.kind !== 'queued' || entry.state.notBeforeMs <= now) return undefined;
    const seconds = (entry.state.notBeforeMs - entry.state.sinceMs) / 1000;
    if (!longest || seconds > longest.seconds) longest = { entry, seconds };
  }
  return longest && describe(longest.entry, longest.seconds);
}

function describe(entry: ShardEntry, seconds: number): string {
  const { lostOn, failedOn } = entry;
  const again = `leased again ${Number(seconds.toFixed(1))} s later`;
  if (isSuspect(entry)) {
    const { name } = lostOn.at(-1)!;
    return `A shard was lost with its node ${lostOn.length} times, the last time with '${name}'; it is ${again}, unless a node whose connection broke brings it back`;
  }
  if (entry.state.kind === 'queued' && entry.state.reason === 'failed') {
    if (failedOn.length >= maxFailures)
      return `A shard failed ${failedOn.length} times, on every node that can have it now; it is ${again}: attach another node, or see what the others lack`;
    return `A shard failed on the only node that can have it, which has computed nothing yet; it is ${again}: attach another node`;
  }
  return `Shards that an earlier coordinator leased are ${again}, unless nodes bring them back`;
}
