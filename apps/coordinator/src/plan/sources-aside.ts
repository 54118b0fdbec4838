import type { PlannedSources } from '@halogrid/jobs/planned-sources';
import { SourceGatherer } from '@halogrid/jobs/source-gatherer';
import type { BlockSource } from '@halogrid/sources/source-block';

/** The most sources in one step. */
const mostSources = 1024;

/**
 * Gathers sources of a plan that no node computes, because their earlier results are kept or they cannot be read. The
 * first source makes a step of its own, the next 2 make one, the next 4, and so on: so a job that allows no quarantined
 * input ends soon.
 */
export class SourcesAside {
  readonly #most: number;
  #sources = new SourceGatherer();
  /** How many sources the next step has. */
  #next = 1;

  /** `most`: the most sources in one step, up to 1024. */
  constructor(most = mostSources) {
    this.#most = Math.min(mostSources, most);
  }

  /** Adds the next source. Returns the gathered sources once they are enough for a step. */
  add(source: BlockSource): PlannedSources | undefined {
    this.#sources.add(source);
    return this.#sources.count >= this.#next || this.#sources.isLong ? this.flush() : undefined;
  }

  /** The gathered sources; undefined if there are none. */
  flush(): PlannedSources | undefined {
    if (this.#sources.count === 0) return undefined;
    const sources = this.#sources.end();
    this.#sources = new SourceGatherer();
    this.#next = Math.min(2 * this.#next, this.#most);
    return sources;
  }
}
