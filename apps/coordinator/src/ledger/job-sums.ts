import type { JobSpec } from '@halogrid/proto';
import { type JobPart, jobGrid } from '../job/accepted-job.ts';
import { type HistogramShape, histogramShape } from '../job/histogram-shape.ts';
import { type CapturedTimes, withTimes } from './captured-times.ts';
import { jobDigest, jobLine } from './digest.ts';
import type { HistogramSpool } from './histogram-spool.ts';
import type { JobResults } from './ledger.ts';
import { Merge } from './merge.ts';

/**
 * The histograms of a job with that specification by its pipeline of that name, which is empty where it has but one; nothing is
 * opened before there is something to write.
 */
export type OpenSpool = (spec: JobSpec, name: string) => HistogramSpool;

/** What one pipeline of a job has found so far. */
export class JobSums {
  readonly name: string;
  /** That of the job of its own that would have these results. */
  readonly spec: JobSpec;
  readonly shape: HistogramShape;
  readonly merge: Merge;
  /** Histograms of the sources that the merge says are done; undefined where the pipeline has none. */
  readonly spool: HistogramSpool | undefined;
  /** Sources of which the journal has an entry, because some of their tiles are to come. */
  readonly keptSources = new Set<number>();
  /** Blocks of their sums of which it has entries, by source; absent where the sums are in the source's own. */
  readonly keptBlocks = new Map<number, Set<number>>();
  readonly #line: string;

  /** `spec` is the whole job's. */
  constructor(spec: JobSpec, part: JobPart, openSpool: OpenSpool) {
    const grid = jobGrid(spec);
    this.name = part.name;
    this.spec = part.spec;
    this.shape = histogramShape(part.pipeline, grid);
    this.#line = jobLine(part.pipeline, grid);
    const spool = this.shape.bins > 0 ? openSpool(spec, part.name) : undefined;
    this.spool = spool;
    this.merge = new Merge(
      this.shape,
      (source, bins) => spool?.append(source, bins),
      (sources, summary) => spool?.appendPacked(sources, summary),
    );
  }

  /** Every source is settled; `captured` has what is known of when they were captured. */
  results(captured: CapturedTimes): Pick<JobResults, 'sources' | 'counted' | 'bins' | 'digest'> {
    const { merge } = this;
    return {
      sources: withTimes(merge.outcomes(), captured),
      counted: merge.counted,
      bins: merge.bins.slice(),
      digest: jobDigest(this.#line, merge.digests()),
    };
  }
}
