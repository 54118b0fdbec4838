import { Best } from '../../ranking/best.ts';
import { gpuBound } from '../../scan/gpu/gpu-bound.ts';
import type { GpuProgramName } from '../../scan/gpu/nearness-shader.ts';

/** What a GPU says of a vector that is not asked for, or counts nothing: NOTHING of near.wgsl. */
export const isNothing = (figure: number): boolean => figure < -1e38;

/** What the figures of a program say of how far vectors are apart: from `least` to `most`. */
export class Estimates {
  readonly #program: GpuProgramName;
  readonly #length: number;
  readonly #mass: number;

  /** `length` counts a vector; `mass` is that of all vectors, for the program that adds up what they have in common. */
  constructor(program: GpuProgramName, length: number, mass = 1) {
    this.#program = program;
    this.#length = length;
    this.#mass = mass;
  }

  least(figure: number): number {
    const apart = this.#apart(figure);
    return apart - gpuBound(this.#program, this.#length, apart);
  }

  most(figure: number): number {
    const apart = this.#apart(figure);
    return apart + gpuBound(this.#program, this.#length, apart);
  }

  /**
   * How far apart the `top` best are at most, by the figures of some: nothing that is further is one of them. Infinite where there
   * are fewer than `top`.
   */
  limit(figures: Iterable<number>, top: number): number {
    const best = new Best<number>(top, (a, b) => b - a);
    let worst = Number.NEGATIVE_INFINITY;
    for (const figure of figures) if (figure > worst && best.offer(figure)) worst = best.worst ?? worst;
    return worst < -1e38 ? Number.POSITIVE_INFINITY : this.most(worst);
  }

  #apart(figure: number): number {
    return this.#program === 'shared' ? 1 - figure / this.#mass : -figure;
  }
}
