import { isPackable, packFrames } from '../job/packed-frames.ts';
import type { PlannedStep, PlanStep } from '../job/shard.ts';

type Source = Extract<PlanStep, { kind: 'source' }>;

/** Sources that are held back until their shard comes, at most: two batches. */
const mostHeld = 8192;

/**
 * A plan in which the shards of frames bring their sources along, where these follow one another; sources of other shards have steps of
 * their own, as before. It depends on the steps alone, so that a plan that is made anew is packed in the same way.
 */
export async function* packPlan(plan: AsyncIterable<readonly PlannedStep[]>): AsyncGenerator<PlannedStep[]> {
  let held: Source[] = [];
  for await (const steps of plan) {
    const packed: PlannedStep[] = [];
    for (const step of steps) {
      if (step.kind === 'source' && isPackable(step) && held.length < mostHeld) {
        held.push(step);
        continue;
      }
      if (step.kind === 'shard') {
        const { work } = step.shard;
        const count = work.kind === 'frames' ? work.sources.length : 0;
        const frames = packFrames(held.slice(0, count), work);
        if (frames) {
          held = held.slice(count);
          packed.push({ kind: 'shard', shard: { ...step.shard, work: frames } });
          continue;
        }
      }
      // What is told of a plan belongs nowhere in it.
      if (step.kind !== 'note') {
        packed.push(...held);
        held = [];
      }
      packed.push(step);
    }
    if (packed.length > 0) yield packed;
  }
  if (held.length > 0) yield held;
}
