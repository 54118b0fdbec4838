import type { SettledRun } from '@halogrid/ledger';
import { featureLayout } from '@halogrid/results/feature-layout';
import { binsOfSource, type HistogramShape } from '@halogrid/results/histogram-shape';
import { groupRows } from '@halogrid/results/source-groups';
import { mostLines } from '@halogrid/results/source-tables';

/** Consecutive runs of sources: a piece of a range. */
export interface RangePiece {
  runs: SettledRun[];
  /** Whether it ends its range; all row groups of features.parquet end there, too. */
  isLast: boolean;
  /** Whether the list of its sources is row groups, as for very many sources; else it is lines. */
  isRows: boolean;
}

/** A range has at least this many counts or sources. */
const rangeCounts = 2 ** 20;
const rangeSources = 2 ** 13;

/** A piece ends with this many times the fewest sources of a range, even if its range goes on. */
const mostPiece = 8;

export interface CutterOptions {
  /** The fewest counts of a range, unless it has very many sources. */
  counts?: number | undefined;
  /** The most sources in a list of lines. */
  lines?: number | undefined;
}

/**
 * Cuts the sources of a job, run by run, into ranges that can be finished separately: no row group of features.parquet
 * has sources of two ranges. Nor has a row group of the list of sources, unless such ranges would have too many counts.
 * A range ends with a run if it can, so that few shards are read for two ranges. A range has several pieces if one
 * pipeline has row groups of very many sources, and another very many counts per source.
 */
export class RangeCutter {
  /** Ranges end at multiples of this number of sources. */
  readonly #step: number;
  /** The fewest sources of a range. */
  readonly #least: number;
  /** Ranges from this source on have lists of row groups. */
  readonly #firstRows: number;
  #runs: SettledRun[] = [];
  /** The first source of the range, the first source of its last piece, and the end of that piece. */
  #range = 0;
  #from = 0;
  #to = 0;

  constructor(shapes: readonly HistogramShape[], { counts = rangeCounts, lines = mostLines }: CutterOptions = {}) {
    const each = shapes.filter(({ bins }) => bins > 0);
    const layouts = each.map((shape) => featureLayout(shape));
    const ofSource = each.reduce((sum, shape) => sum + binsOfSource(shape), 0);
    this.#least = Math.min(rangeSources, Math.max(1, Math.floor(counts / Math.max(1, ofSource))));
    const ofList = groupRows <= mostPiece * this.#least ? groupRows : 1;
    // All are powers of two, so the largest is a multiple of the others.
    this.#step = Math.max(ofList, ...layouts.map(({ groupSources }) => groupSources));
    this.#firstRows = this.#step % groupRows === 0 ? lines : Number.POSITIVE_INFINITY;
  }

  /** Takes the next run. Returns the pieces that have ended. */
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

  /** Ends the piece if it has sources; its range goes on. */
  endPiece(): RangePiece[] {
    return this.#to === this.#from ? [] : [this.#end(false)];
  }

  /** Ends the last range, if it has sources. */
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
