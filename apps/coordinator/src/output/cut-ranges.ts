import type { SettledRun } from '@halogrid/ledger';
import { binsOfCell, binsOfSource, type HistogramShape } from '@halogrid/results/histogram-shape';
import { pageLayout } from '@halogrid/results/page-layout';
import { groupRows } from '@halogrid/results/source-groups';
import { mostLines } from '@halogrid/results/source-tables';

/** Runs of sources that follow one another. The last of a range ends where all row groups of features.parquet end. */
export interface RangePiece {
  runs: SettledRun[];
  isLast: boolean;
  /** Whether the list of its sources is row groups, as of a job with very many; else it is lines. */
  isRows: boolean;
}

/** Counts that a range has at least, unless it has so many sources. */
const rangeCounts = 2 ** 20;
const rangeSources = 2 ** 13;

/** How many times as many a piece has at most, whose range may go on. */
const mostPiece = 8;

export interface CutterOptions {
  /** Counts that a range has at least. */
  counts?: number | undefined;
  /** Sources that a list of lines has at most. */
  lines?: number | undefined;
}

/**
 * Cuts the sources of a job, run by run, into ranges that can be finished apart: no row group has sources of two of
 * them, those of the list included unless such ranges have too many counts. A range ends with a run where it can, so that
 * few shards are read for two ranges. A range is several pieces where one pipeline has row groups of very many sources,
 * and another very many counts a source.
 */
export class RangeCutter {
  /** Ranges end at multiples of it. */
  readonly #step: number;
  /** Sources that a range has at least. */
  readonly #least: number;
  /** Ranges from this source on have lists of row groups. */
  readonly #firstRows: number;
  #runs: SettledRun[] = [];
  /** Where the range begins, where its last piece begins, and where that ends. */
  #range = 0;
  #from = 0;
  #to = 0;

  constructor(shapes: readonly HistogramShape[], { counts = rangeCounts, lines = mostLines }: CutterOptions = {}) {
    const each = shapes.filter(({ bins }) => bins > 0);
    const layouts = each.map((shape) => pageLayout(shape.grid.rows * shape.grid.columns, binsOfCell(shape)));
    const ofSource = each.reduce((sum, shape) => sum + binsOfSource(shape), 0);
    this.#least = Math.min(rangeSources, Math.max(1, Math.floor(counts / Math.max(1, ofSource))));
    const ofList = groupRows <= mostPiece * this.#least ? groupRows : 1;
    // They are powers of two.
    this.#step = Math.max(ofList, ...layouts.map(({ groupSources }) => groupSources));
    this.#firstRows = this.#step % groupRows === 0 ? lines : Number.POSITIVE_INFINITY;
  }

  /** The next run. Returns the pieces that have ended. */
  add(run: SettledRun): RangePiece[] {
    const end = this.#to + lengthOf(run);
    const cut = Math.floor(end / this.#step) * this.#step;
    const isCut = cut > this.#to && cut - this.#range >= this.#least;
    if (!isCut) {
      this.#push(run);
      return this.#to - this.#from >= mostPiece * this.#least ? [this.#end(false)] : [];
    }
    const [head, tail] = cutRun(run, cut - this.#to);
    this.#push(head);
    const ended = this.#end(true);
    return tail ? [ended, ...this.add(tail)] : [ended];
  }

  /** Ends a piece where it has sources: its range goes on. */
  endPiece(): RangePiece[] {
    return this.#to === this.#from ? [] : [this.#end(false)];
  }

  /** Ends the last range; none where it has no sources. */
  end(): RangePiece[] {
    return this.#to === this.#range ? [] : [this.#end(true)];
  }

  #push(run: SettledRun): void {
    this.#runs.push(run);
    this.#to += lengthOf(run);
  }

  #end(isLast: boolean): RangePiece {
    const runs = this.#runs;
    this.#runs = [];
    const isRows = this.#range >= this.#firstRows;
    this.#from = this.#to;
    if (isLast) this.#range = this.#to;
    return { runs, isLast, isRows };
  }
}

const lengthOf = (run: SettledRun): number => (run.kind === 'found' ? run.count : run.sources.length);

/** The first sources of a run, and the others, if any. */
function cutRun(run: SettledRun, at: number): [SettledRun, SettledRun | undefined] {
  if (at === lengthOf(run)) return [run, undefined];
  if (run.kind === 'quarantined') {
    const of = (from: number, to?: number): SettledRun => ({ ...run, sources: run.sources.slice(from, to) });
    return [of(0, at), of(at)];
  }
  const planned = { ...run.planned, nth: run.planned.nth + at };
  return [
    { ...run, count: at },
    { ...run, first: run.first + at, count: run.count - at, planned },
  ];
}
