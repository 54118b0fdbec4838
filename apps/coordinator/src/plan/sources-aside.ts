import type { BlockSource } from '@halogrid/sources/source-block';
import type { PlanStep } from '../job/shard.ts';
import { SourceGatherer } from '../job/source-gatherer.ts';
import type { EarlierResult } from '../output/previous/earlier-output.ts';
import { foundEarlier } from './found-earlier.ts';

/** Sources that are told together at most. */
const mostSources = 1024;

/**
 * Gathers the sources of a plan that no shard needs: those whose earlier results are kept, and those that cannot be
 * read. The first is told at once, then 2 together, then 4 and so on: a job that allows no input to be quarantined ends soon.
 */
export class SourcesAside {
  readonly #most: number;
  #sources = new SourceGatherer();
  #kept: { nth: number; result: EarlierResult }[] = [];
  /** Sources that are told together next. */
  #next = 1;

  /** `mostKept`: results that are held at most. */
  constructor(mostKept: number) {
    this.#most = Math.min(mostSources, mostKept);
  }

  /**
   * Adds the next source, with its earlier result where that is kept. Returns the step of all of them once they are
   * many.
   */
  add(source: BlockSource, kept?: EarlierResult): PlanStep[] {
    if (kept) this.#kept.push({ nth: this.#sources.count, result: kept });
    this.#sources.add(source);
    return this.#sources.count >= this.#next || this.#sources.isLong ? this.flush() : [];
  }

  /** The step of the sources that were added since the last one. */
  flush(): PlanStep[] {
    if (this.#sources.count === 0) return [];
    const sources = this.#sources.end();
    const places = this.#kept.map(({ nth }) => nth);
    const results = this.#kept.map(({ result }) => result);
    const kept = results.length > 0 && { kept: foundEarlier(sources.block, places, results) };
    const step: PlanStep = { kind: 'sources', sources, ...kept };
    this.#sources = new SourceGatherer();
    this.#kept = [];
    this.#next = Math.min(2 * this.#next, this.#most);
    return [step];
  }
}
