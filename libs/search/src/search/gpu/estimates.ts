import { Best } from '../../ranking/best.ts';
import { type Bound, largestFigure, mostApart } from '../../scan/bound.ts';
import { gpuBound } from '../../scan/gpu/gpu-bound.ts';
import { type GpuProgramName, summitFigures } from '../../scan/gpu/nearness-shader.ts';

/** Pass one kind of array to a loop: loops over several kinds take several times as long. */
type Figures = Float32Array | Float64Array;

/** Tells from a program's figures how far vectors are apart. The larger a figure, the nearer they are. */
export class GpuEstimates {
  readonly #bound: Bound;
  /** The mass of all vectors, if figures are what vectors have in common. */
  readonly #mass: number | undefined;

  /** `length`: counts of a vector; `mass`: the mass of all vectors, if they have one. */
  constructor(program: GpuProgramName, length: number, mass?: number) {
    this.#bound = gpuBound(program, length);
    this.#mass = program === 'shared' ? mass : undefined;
  }

  /**
   * How far the `top` best are apart from the query at most, by the figures of some: no vector that is further is one
   * of them. Infinite if there are fewer than `top`.
   */
  limit(figures: Figures, top: number): number {
    const worst = nthLargest(figures, top);
    if (worst === nothing) return Number.POSITIVE_INFINITY;
    const apart = this.#mass === undefined ? -worst : 1 - worst / this.#mass;
    return mostApart(this.#bound, apart);
  }

  /** The indexes of figures that may be among the `top` best, and the least figure that these may have. */
  nearest(figures: Float32Array, top: number): { least: number; found: number[] } {
    const summits = summitsOf(figures);
    // Summits are figures as well: a vector that `top` of them rule out is further than those.
    const least = this.leastFigure(this.limit(summits.length >= worthSummits * top ? summits : figures, top));
    return { least, found: atLeast(figures, least, summits) };
  }

  /**
   * The least figure of vectors that are `limit` apart or less. Vectors that are not asked for have a smaller one,
   * whatever the limit is.
   */
  leastFigure(limit: number): number {
    if (limit === Number.POSITIVE_INFINITY || this.#bound.share >= 1) return nothing;
    if (this.#mass !== undefined) return (1 - limit - this.#bound.constant) * this.#mass;
    return -largestFigure(this.#bound, limit);
  }
}

/** The `n`-th largest figure; `nothing` if fewer are above it. */
function nthLargest(figures: Figures, n: number): number {
  const best = new Best<number>(n, (a, b) => b - a);
  let worst = nothing;
  for (let i = 0; i < figures.length; i++) {
    const figure = figures[i]!;
    if (figure > worst && best.offer(figure)) worst = best.worst ?? worst;
  }
  return worst;
}

/** With this many summits for each wanted hit, the best figures are mostly summits. */
const worthSummits = 16;

/**
 * The largest of each `summitFigures` figures: a loop that does only this takes a fifth of the time of one that keeps
 * the best in a heap (measured).
 */
function summitsOf(figures: Float32Array): Float32Array {
  const summits = new Float32Array(Math.ceil(figures.length / summitFigures));
  for (let i = 0; i < summits.length; i++) {
    const end = Math.min((i + 1) * summitFigures, figures.length);
    let largest = Number.NEGATIVE_INFINITY;
    for (let at = i * summitFigures; at < end; at++) {
      const figure = figures[at]!;
      largest = figure > largest ? figure : largest;
    }
    summits[i] = largest;
  }
  return summits;
}

/** The indexes of figures that are at least `least`; `summits`: the summits of these figures. */
export function atLeast(figures: Float32Array, least: number, summits = summitsOf(figures)): number[] {
  const found: number[] = [];
  for (let i = 0; i < summits.length; i++) {
    if (summits[i]! < least) continue;
    const end = Math.min((i + 1) * summitFigures, figures.length);
    for (let at = i * summitFigures; at < end; at++) if (figures[at]! >= least) found.push(at);
  }
  return found;
}

/**
 * Above NOTHING of near.wgsl, the figure of a vector that is not asked for or has no counts, and below all other
 * figures.
 */
const nothing = -1e38;
