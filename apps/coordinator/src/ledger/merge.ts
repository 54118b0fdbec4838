import type { Size } from '@halogrid/geometry';
import { cellsOf } from '@halogrid/kernels';
import type { QuarantineReason } from '@halogrid/proto';
import {
  binsOfCell,
  binsOfSource,
  digestedBins,
  type HistogramShape,
  isOneCell,
} from '@halogrid/results/histogram-shape';
import { type SourceDigest, sourceDigest } from '@halogrid/results/source-digest';
import type { CaptureTime } from '@halogrid/sources/captured';
import type { BlockSource } from '@halogrid/sources/source-block';
import type { SourceResult } from '../job/shard.ts';
import type { PartSummary } from './frame-summary.ts';
import type { SourceOutcome, SourceOutcomes } from './ledger.ts';
import { OpenBins } from './open-bins.ts';
import { QuarantineReasons } from './quarantine-reasons.ts';
import type { Quarantine, SettledSource } from './record/settled-source.ts';
import { SettledTable, type StoredRow } from './settled-table.ts';
import { type PlannedPlace, SourceList } from './source-list.ts';
import type { StoredFrames } from './stored-frames.ts';
import type { StoredSources } from './stored-sources.ts';
import { Totals } from './totals.ts';

/** Some tiles of a source, or all, are still to come. */
export interface OpenSource {
  state: 'open';
  tilesLeft: number;
  counted: number;
  /** Image pixels of the tiles that came. */
  pixels: number;
  /** The sum over the tiles that came, of all cells; undefined before the first. */
  bins: OpenBins | undefined;
}

export type SourceState = OpenSource | SettledSource;

/**
 * The exact sum of a job's results, by source. What it says in the end does not depend on the order in which results
 * came: sources fold into the totals when their last tile is in, sums are integers, and of several reasons to quarantine a
 * source that of the lowest shard stays.
 *
 * The caller passes each shard's results once, checked by `checkAnswer`. `onDone` is told the bins of each source that is
 * done, once, as HistogramShape lays them out; they are valid during the call only.
 */
export class Merge {
  /** Pixels counted in each channel, over the sources that are done. */
  counted = 0n;
  /** Image pixels of merged results. */
  pixels = 0;
  done = 0;
  quarantined = 0;
  readonly #totals: Totals;
  readonly #planned = new SourceList<StoredSources>();
  readonly #settled = new SettledTable();
  /** Those that several results make, until all are in: an ordinary frame is never among them. */
  readonly #open = new Map<number, OpenSource>();
  /** Undefined where sources were counted that have another reason now: they are counted anew when somebody asks. */
  #reasons: QuarantineReasons | undefined = new QuarantineReasons();
  readonly #shape: HistogramShape;
  readonly #binsOfSource: number;
  readonly #onDone: (source: number, bins: ArrayLike<number>) => void;

  constructor(shape: HistogramShape, onDone: (source: number, bins: ArrayLike<number>) => void = () => {}) {
    this.#totals = new Totals(binsOfCell(shape));
    this.#shape = shape;
    this.#binsOfSource = binsOfSource(shape);
    this.#onDone = onDone;
  }

  /** Counts of every channel, one after another, over all cells of the sources that are done. */
  get bins(): BigUint64Array {
    return this.#totals.sums;
  }

  get sources(): number {
    return this.#planned.length;
  }

  /** Adds sources of the plan. */
  plan(sources: StoredSources): void {
    this.#planned.add(sources);
  }

  /** Where a source was planned; undefined for one that is not there. */
  plannedPlace(index: number): PlannedPlace<StoredSources> | undefined {
    return this.#planned.place(index);
  }

  /** Adds a shard's results. */
  add(results: readonly SourceResult[]): void {
    for (const result of results) {
      if (!this.isOpen(result.source)) continue;
      const source = this.#open.get(result.source) ?? untouched(this.#planned.tiles(result.source));
      const pixels = result.rect.width * result.rect.height;
      this.pixels += pixels;
      source.pixels += pixels;
      source.counted += result.counted;
      source.tilesLeft--;
      // A whole frame that touches every cell lists them as they are kept.
      if (source.tilesLeft === 0 && !source.bins && result.bins.length === this.#binsOfSource) {
        this.#finish(result.source, result.size, source.counted, result.bins);
        continue;
      }
      source.bins ??= new OpenBins(this.#binsOfSource);
      source.bins.makeRoomFor(source.pixels);
      this.#addBins(source.bins, result);
      if (source.tilesLeft === 0) this.#finish(result.source, result.size, source.counted, source.bins.sums);
      else this.#open.set(result.source, source);
    }
  }

  /** Adds frames that are checked and stored, and what their results come to. */
  addFrames(frames: StoredFrames, { counted, sums }: PartSummary, pixels: number): void {
    this.#settled.setFrames(frames);
    this.done += frames.sources.length;
    this.pixels += pixels;
    this.counted += counted;
    this.#totals.addSums(sums);
  }

  /** When a source that was added with `addFrames` was captured, where that is known. */
  captured(index: number): CaptureTime | undefined {
    const stored = this.#settled.stored(index);
    return stored?.frames.place.isTimed ? stored.frames.rows.captured(stored.row) : undefined;
  }

  /** Puts frames back as they were; the totals stay as they are. */
  restoreFrames(frames: StoredFrames): void {
    this.#settled.setFrames(frames);
  }

  /** Where the histograms of a source lie that was added with `addFrames`; undefined for every other one. */
  stored(index: number): StoredRow | undefined {
    return this.#settled.stored(index);
  }

  /** Sets a source aside; of one that is done it changes nothing. */
  quarantine(index: number, reason: Quarantine): void {
    const settled = this.#settled.get(index);
    if (settled?.state === 'done') return;
    if (settled) {
      if (reason.shard < settled.reason.shard) this.restore(index, { state: 'quarantined', reason });
      return;
    }
    this.pixels -= this.#open.get(index)?.pixels ?? 0;
    this.quarantined++;
    this.#reasons?.add(index, reason);
    this.#settle(index, { state: 'quarantined', reason });
  }

  /** A source for people, also while the disk that lists it cannot be read. */
  whereabouts(index: number): string {
    return this.#planned.whereabouts(index);
  }

  /** A source as it was planned. */
  planned(index: number): BlockSource {
    return this.#planned.get(index);
  }

  isOpen(index: number): boolean {
    return this.#settled.state(index) === undefined;
  }

  /** A source as it is now. */
  state(index: number): SourceState {
    return this.#settled.get(index) ?? this.#open.get(index) ?? untouched(this.#planned.tiles(index));
  }

  /** Puts a source back as it was; the totals stay as they are. */
  restore(index: number, state: SourceState): void {
    if (state.state === 'quarantined') this.#reasons = undefined;
    if (state.state === 'open') this.#open.set(index, state);
    else this.#settle(index, state);
  }

  /** Why sources are quarantined, each counted once; the most frequent first. */
  reasons(): QuarantineReason[] {
    if (!this.#reasons) {
      this.#reasons = new QuarantineReasons();
      for (const [index, reason] of this.#settled.quarantined()) this.#reasons.add(index, reason);
    }
    return this.#reasons.list((index) => this.#planned.whereabouts(index));
  }

  /** Those that are quarantined so far. */
  *quarantinedSources(): Generator<SourceOutcome> {
    for (const [index] of this.#settled.quarantined()) yield this.outcome(index)!;
  }

  /** Whether a source stays as it is; undefined while it is open, or not there. */
  settled(index: number): SettledSource['state'] | undefined {
    return this.#settled.state(index);
  }

  /** What became of a source; undefined while it is open. */
  outcome(index: number): SourceOutcome | undefined {
    const settled = this.#settled.get(index);
    return settled && outcome(this.#planned.get(index), settled);
  }

  /** Every source in order; all are done or quarantined. They are told one by one, as often as one asks. */
  outcomes(): SourceOutcomes {
    const length = this.sources;
    if (this.done + this.quarantined < length) {
      for (let index = 0; index < length; index++) {
        const source = this.state(index);
        if (source.state === 'open') throw new Error(`Source ${index} still waits for ${source.tilesLeft} results`);
      }
    }
    const at = (index: number) => this.outcome(index);
    return { length, at, [Symbol.iterator]: () => this.#outcomes() };
  }

  #outcomes(): IteratorObject<SourceOutcome, undefined> {
    return this.#planned[Symbol.iterator]().map((planned) => outcome(planned, this.#settled.get(planned.index)!));
  }

  /** Digests of every source in order, end to end; all are done or quarantined. */
  digests(): Iterable<SourceDigest> {
    return this.#settled.digests(this.sources);
  }

  #settle(index: number, source: SettledSource): void {
    this.#open.delete(index);
    this.#settled.set(index, source);
  }

  /** Adds the bins of the cells that a result touches to those of its source. */
  #addBins(target: OpenBins, { size, rect, bins }: SourceResult): void {
    const { grid } = this.#shape;
    const cellBins = binsOfCell(this.#shape);
    if (isOneCell(grid) || cellBins === 0) {
      target.add(0, bins, 0, cellBins);
      return;
    }
    let from = 0;
    for (const { row, column } of cellsOf(grid, size, rect)) {
      target.add((row * grid.columns + column) * cellBins, bins, from, cellBins);
      from += cellBins;
    }
  }

  /** Adds a source to the totals. */
  #finish(index: number, size: Size, counted: number, bins: ArrayLike<number>): void {
    const digest = sourceDigest(size, counted, digestedBins(this.#shape, bins));
    this.#settle(index, { state: 'done', size, counted, digest });
    this.done++;
    this.counted += BigInt(counted);
    this.#totals.add(bins, size.width * size.height);
    this.#onDone(index, bins);
  }
}

function untouched(tilesLeft: number): OpenSource {
  return { state: 'open', tilesLeft, counted: 0, pixels: 0, bins: undefined };
}

function outcome({ index, uri, name, tiles = 1, video }: BlockSource, settled: SettledSource): SourceOutcome {
  const source = { index, uri, name, ...(video && { video }) };
  if (settled.state === 'done') {
    const { state, size, counted, digest } = settled;
    return { ...source, state, size, tiles, counted, digest };
  }
  const { stage, error, attempts } = settled.reason;
  return { ...source, state: 'quarantined', stage, error, attempts };
}
