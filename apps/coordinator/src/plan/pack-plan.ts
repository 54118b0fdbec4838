import { isPackable, packFrames } from '../job/packed-frames.ts';
import type { PlannedStep, PlanStep } from '../job/shard.ts';

type Source = Extract<PlanStep, { kind: 'source' }>;

/** Sources that are held back until their shard comes, at most: two batches. */
const mostHeld = 8192;

/**
 * A plan in which the shards of frames bring their sources along, where these follow one another; sources of other shards have steps of
 * their own, as before. It depends on the steps alone, so that a plan that is made anew is packed in the same way.
 */
export async function* packPlan(steps: AsyncIterable<PlannedStep>): AsyncGenerator<PlannedStep> {
  let held: Source[] = [];
  for await (const step of steps) {
    if (step.kind === 'source' && isPackable(step) && held.length < mostHeld) {
      held.push(step);
      continue;
    }
    if (step.kind === 'shard') {
      const { work } = step.shard;
      const count = work.kind === 'frames' ? work.sources.length : 0;
      const packed = packFrames(held.slice(0, count), work);
      if (packed) {
        held = held.slice(count);
        yield { kind: 'shard', shard: { ...step.shard, work: packed } };
        continue;
      }
    }
    // What is told of a plan belongs nowhere in it.
    if (step.kind !== 'note') {
      yield* held;
      held = [];
    }
    yield step;
  }
  yield* held;
}
