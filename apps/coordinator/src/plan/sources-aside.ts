import type { PlannedSources } from '@halogrid/jobs/planned-sources';
import { SourceGatherer } from '@halogrid/jobs/source-gatherer';
import type { BlockSource } from '@halogrid/sources/source-block';

/** Sources that are told together at most. */
const mostSources = 1024;

/**
 * Gathers sources of a plan that no node computes: those whose earlier results are kept, or those that cannot be read.
 * The first is told at once, then 2 together, then 4 and so on: a job that allows no input to be quarantined ends soon.
 */
export class SourcesAside {
  readonly #most: number;
  #sources = new SourceGatherer();
  /** Sources that are told together next. */
  #next = 1;

  /** `most`: sources that are told together, if not fewer. */
  constructor(most = mostSources) {
    this.#most = Math.min(mostSources, most);
  }

  /** Adds the next source. Returns all that were added since they were told last, once they are many. */
  add(source: BlockSource): PlannedSources | undefined {
    this.#sources.add(source);
    return this.#sources.count >= this.#next || this.#sources.isLong ? this.flush() : undefined;
  }

  /** The sources that were added since they were told last; undefined where there are none. */
  flush(): PlannedSources | undefined {
    if (this.#sources.count === 0) return undefined;
    const sources = this.#sources.end();
    this.#sources = new SourceGatherer();
    this.#next = Math.min(2 * this.#next, this.#most);
    return sources;
  }
}
