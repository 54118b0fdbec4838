import type { JobSpec } from '@halogrid/proto';
import { type HistogramShape, histogramShape } from '@halogrid/results/histogram-shape';
import { type JobPart, jobGrid } from '../job/accepted-job.ts';
import { jobDigest } from '../log/digest.ts';
import type { HistogramPlace, StoredPlace } from '../log/settled-source.ts';
import { type CapturedOf, withTimes } from './captured-times.ts';
import type { PartSummary } from './frame-summary.ts';
import type { HistogramSpool } from './histogram-spool.ts';
import { jobLine } from './job-line.ts';
import type { JobResults } from './ledger.ts';
import { Merge } from './merge.ts';
import { HeldRows, StoredFrames } from './stored-frames.ts';

/**
 * The histograms of a job with that specification by its pipeline of that name, which is empty where it has but one; nothing is
 * opened before there is something to write.
 */
export type OpenSpool = (spec: JobSpec, name: string) => HistogramSpool;

/** What an answer says of frames that all pipelines share. */
export interface FramesSaid {
  isTimed: boolean;
  pixels: number;
}

/** What one pipeline of a job has found so far. */
export class JobSums {
  readonly name: string;
  /** That of the job of its own that would have these results. */
  readonly spec: JobSpec;
  readonly shape: HistogramShape;
  readonly merge: Merge;
  /** Histograms of the sources that the merge says are done, if the pipeline has any, and what is kept of frames beside them. */
  readonly spool: HistogramSpool;
  readonly #rows: HeldRows;
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
    this.spool = openSpool(spec, part.name);
    this.#rows = new HeldRows(this.spool);
    this.merge = new Merge(this.shape, (source, bins) => {
      if (this.hasHistograms) this.spool.append(source, bins);
    });
  }

  get hasHistograms(): boolean {
    return this.shape.bins > 0;
  }

  /** Takes frames that were checked; says where they lie. */
  addFrames(runs: Float64Array, { isTimed, pixels }: FramesSaid, summary: PartSummary): StoredPlace {
    const { stored, countsBytes, rowsChecksum } = summary;
    const rowsBytes = stored.length - countsBytes;
    const place = { runs, isTimed, offset: this.spool.end, countsBytes, rowsBytes, rowsChecksum };
    this.merge.addFrames(new StoredFrames(place, this.#rows), summary, pixels);
    this.spool.appendBlock(stored);
    return place;
  }

  /** An earlier process took them. */
  restoreFrames(place: StoredPlace): void {
    const frames = new StoredFrames(place, this.#rows);
    this.merge.restoreFrames(frames);
    this.spool.restoreBlock(frames.end);
  }

  /** Where the file has the histograms of a source that is done; undefined while they wait for the disk. */
  written(source: number): HistogramPlace | undefined {
    const stored = this.merge.stored(source);
    if (!stored) return this.spool.written(source);
    return this.spool.isWritten(stored.frames.end) ? stored.frames.histograms(stored.row) : undefined;
  }

  /** Every source is settled; `captured` says when they were captured. */
  results(captured: CapturedOf): Pick<JobResults, 'sources' | 'counted' | 'bins' | 'digest'> {
    const { merge } = this;
    return {
      sources: withTimes(merge.outcomes(), captured),
      counted: merge.counted,
      bins: merge.bins.slice(),
      digest: jobDigest(this.#line, merge.digests()),
    };
  }
}
