import { isPackable, packFrames } from '../job/packed-frames.ts';
import { isTold, type PlannedStep, type PlanStep } from '../job/shard.ts';

type Source = Extract<PlanStep, { kind: 'source' }>;

/** Sources that are held back until their shard comes, at most: two batches. */
const mostHeld = 8192;

/**
 * A plan in which the shards of frames bring their sources along, where these follow one another; sources of other shards have steps of
 * their own, as before. It depends on the steps alone, so that a plan that is made anew is packed in the same way.
 */
export async function* packPlan(plan: AsyncIterable<readonly PlannedStep[]>): AsyncGenerator<PlannedStep[]> {
  const packer = new PlanPacker();
  for await (const steps of plan) {
    const packed: PlannedStep[] = [];
    for (const step of steps) packer.take(step, packed);
    if (packed.length > 0) yield packed;
  }
  const rest = packer.rest();
  if (rest.length > 0) yield rest;
}

class PlanPacker {
  #held: Source[] = [];

  /** Adds to `plan` what follows of it when this step is known. */
  take(step: PlannedStep, plan: PlannedStep[]): void {
    if (step.kind === 'source' && isPackable(step) && this.#held.length < mostHeld) {
      this.#held.push(step);
      return;
    }
    if (step.kind === 'shard') {
      const { work } = step.shard;
      const count = work.kind === 'frames' ? work.sources.length : 0;
      const packed = packFrames(this.#held.slice(0, count), work);
      if (packed) {
        this.#held = this.#held.slice(count);
        plan.push({ kind: 'shard', shard: { ...step.shard, work: packed } });
        return;
      }
    }
    if (!isTold(step)) for (const held of this.#heldFor(step)) plan.push(held);
    plan.push(step);
  }

  /** Takes what is to come before a step. Behind a shard's own sources is the one that was too many for it: it is of the next shard. */
  #heldFor(step: PlannedStep): Source[] {
    const last =
      step.kind === 'shard' && step.shard.work.kind === 'frames' ? step.shard.work.sources.at(-1) : undefined;
    if (!last) return this.rest();
    const behind = this.#held.findIndex(({ index }) => index > last.index);
    return behind < 0 ? this.rest() : this.#held.splice(0, behind);
  }

  /** Sources whose shard has not come. */
  rest(): Source[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }
}
