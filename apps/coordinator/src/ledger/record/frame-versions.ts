import type { PlanStep, SourceRef } from '../../job/shard.ts';

/**
 * The versions of the sources of a plan that no shard of frames has named yet, by index: so few that they are held, and so long
 * that they are not recorded twice. Whoever writes a plan and whoever reads it tell it every step, from the first of the plan
 * on, and so both know the same.
 */
export class FrameVersions {
  readonly #versions = new Map<number, string>();

  /** The version that the plan gives the source of a frame. */
  of({ index }: SourceRef): string | undefined {
    return this.#versions.get(index);
  }

  /** To be told a step when it is written, or was read. */
  take(step: PlanStep): void {
    if (step.kind === 'source') {
      // Frames are sources that one shard makes.
      if (step.tiles === 1 && step.version) this.#versions.set(step.index, step.version);
    } else if (step.kind !== 'shard') this.#versions.delete(step.index);
    else if (step.shard.work.kind === 'frames') {
      for (const { index } of step.shard.work.sources) this.#versions.delete(index);
    }
  }
}
