import { apart, appearanceOf } from './appearance.ts';
import type { ChangeEvent, Moment } from './change-event.ts';
import { viewChange } from './change-kind.ts';
import { changePoint } from './change-point.ts';
import { apartOfCells, type CellShape } from './compare-cells.ts';
import { type BlockVerdict, judgeBlock, keptBlocks } from './judge-block.ts';
import { groupsOf } from './neighbours.ts';
import { farOf, OpenEvents, settled } from './open-events.ts';
import { View } from './view.ts';

/** A frame of a camera, as shares. */
export interface CameraSample {
  readonly moment: Moment;
  readonly shares: Float32Array;
}

/**
 * Samples of a block, whose common appearance is compared: a change that passes within two samples leaves no trace in
 * it.
 */
export const blockSamples = 8;
/**
 * Samples that are kept, to find the one with which a change began; twice as many while another view has not settled.
 */
const keptSamples = keptBlocks * blockSamples;
/** The reference moves this part of the way to each block: shadows and dusk become usual in some eight blocks. */
const adaption = 1 / 8;
/** Changes of touching cells, at most so many samples apart, are one change. */
const samplesApart = 4;

/**
 * A block compared with the view: the distances of all cells, which cells look different (`moved`), and which of these
 * looked the same in the previous block (`certain`).
 */
interface Comparison {
  block: Float32Array;
  distances: readonly number[];
  moved: boolean[];
  certain: number[];
}

/**
 * Finds what changes in a camera and stays, from samples at even distances. The appearance of each block of samples is
 * compared with how the view looks; a cell has changed if two blocks in a row are further from it than usual and near
 * each other. When the view as a whole changes, blocks start again at the first sample of the new view (`judgeBlock`),
 * so that two blocks show only this view, whenever it begins. When a view is back, its usual ranges apply again.
 */
export class LastingChanges {
  readonly events: ChangeEvent[] = [];
  readonly #shape: CellShape;
  readonly #times: number;
  readonly #cells: readonly number[];
  readonly #open: OpenEvents;
  /** For how many blocks each cell has looked different. */
  readonly #otherwise: Uint8Array;
  #samples: CameraSample[] = [];
  /** The first sample of the next block, and whether it is also the first of another view. */
  #begin = 0;
  #isAligned = false;
  #view: View | undefined;
  #last: Float32Array | undefined;
  /** Blocks of another view that has not settled. */
  #unsettled = 0;
  /**
   * The distances of each cell since it last looked as usual. They are learned when the cell looks as usual again, or
   * never settles: a change may have begun in the last block that looked as usual.
   */
  #held: number[][];

  /** `times`: standard deviations above the median from which a distance is not usual. */
  constructor(shape: CellShape, times: number) {
    this.#shape = shape;
    this.#times = times;
    this.#cells = Array.from({ length: shape.rows * shape.columns }, (_, cell) => cell);
    this.#open = new OpenEvents(shape);
    this.#otherwise = new Uint8Array(this.#cells.length);
    this.#held = this.#cells.map(() => []);
  }

  get view(): View | undefined {
    return this.#view;
  }

  /** Whether the view is the known one, and not another one that has not settled yet. */
  get isSteady(): boolean {
    return !this.#isAligned && this.#unsettled === 0;
  }

  /** Returns the events that became certain with this sample, with their cells and first sample; usually none. */
  add(sample: CameraSample): ChangeEvent[] {
    this.#samples.push(sample);
    const changes: ChangeEvent[] = [];
    while (this.#samples.length - this.#begin >= blockSamples) changes.push(...this.#takeBlock());
    this.#drop(this.#samples.length - (this.isSteady ? keptSamples : 2 * keptSamples));
    return changes;
  }

  /** Ends open events with the last frame, or earlier if the last samples show the old view again. */
  finish(last: Moment): ChangeEvent[] {
    const changes = this.#endBySamples();
    this.#open.endAll(last);
    return changes;
  }

  #takeBlock(): ChangeEvent[] {
    const block = this.#appearanceFrom(this.#begin);
    if (!this.#view) {
      this.#view = new View(block, this.#shape, this.#times);
      this.#begin += blockSamples;
      this.#last = block;
      return [];
    }
    const compared = this.#compare(block, this.#view);
    const verdict = judgeBlock({
      cells: this.#cells.length,
      moved: compared.moved.filter((is) => is).length,
      certain: compared.certain.length,
      isAligned: this.#isAligned,
      unsettled: this.#unsettled,
    });
    this.#isAligned = verdict === 'begins';
    if (verdict === 'begins') {
      this.#begin = this.#firstOfNewest();
      return [];
    }
    this.#begin += blockSamples;
    const changes = verdict === 'changed' ? [this.#changeView(compared)] : this.#changeParts(compared, verdict);
    this.#last = block;
    return changes;
  }

  #compare(block: Float32Array, view: View): Comparison {
    const distances = [...apartOfCells(block, view.reference, this.#shape)];
    const moved = distances.map((distance, cell) => distance > view.blockLimit(cell));
    const isCertain = (cell: number): boolean =>
      moved[cell]! &&
      this.#otherwise[cell]! > 0 &&
      apart(block, this.#last!, cell, this.#shape.bins) < settled * distances[cell]!;
    return { block, distances, moved, certain: this.#cells.filter(isCertain) };
  }

  /**
   * The sample with which the newest sample's view began. It lies at most a block before the next block begins, because
   * most samples of the view may lie in the previous block.
   */
  #firstOfNewest(): number {
    const least = Math.max(0, this.#begin - blockSamples + 1);
    return least + this.#firstOf(this.#samples.slice(least), this.#cells, this.#last!, this.#samples.at(-1)!.shares);
  }

  /** The first of `samples` from which on the cells look as after a change. */
  #firstOf(
    samples: readonly CameraSample[],
    cells: readonly number[],
    before: Float32Array,
    after: Float32Array,
  ): number {
    const far = (from: Float32Array): number[] => samples.map(({ shares }) => farOf(cells, shares, from, this.#shape));
    return changePoint(far(before), far(after));
  }

  /** The view is the known one: its cells change separately. */
  #changeParts({ block, distances, moved, certain }: Comparison, verdict: BlockVerdict): ChangeEvent[] {
    // Parts of a view that has not settled wait for the others.
    this.#unsettled = verdict === 'waits' ? this.#unsettled + 1 : 0;
    const groups = verdict === 'parts' ? groupsOf(certain, this.#shape) : [];
    for (const cell of this.#cells) this.#follow(cell, distances[cell]!, moved[cell]!);
    const changes = groups.map((cells) => this.#changeCells(cells, distances, block));
    for (const cell of this.#cells) if (this.#otherwise[cell] === 0) this.#view!.take(cell, block, adaption);
    return changes;
  }

  #follow(cell: number, distance: number, isOtherwise: boolean): void {
    const [held, blocks] = [this.#held[cell]!, this.#otherwise[cell]!];
    this.#otherwise[cell] = isOtherwise && blocks < keptBlocks - 1 ? blocks + 1 : 0;
    if (this.#otherwise[cell] === 0) this.#view!.learnBlocks(cell, held.splice(0));
    held.push(distance);
  }

  /** The cells look as usual from now on. */
  #forget(cells: readonly number[]): void {
    for (const cell of cells) [this.#otherwise[cell], this.#held[cell]] = [0, []];
  }

  /**
   * Makes the mean of the first and the last block since sample `at` the reference of the cells. Their usual distances
   * are distances from a mean of many blocks. From one noisy block alone, the next blocks would be too far.
   */
  #adopt(cells: readonly number[], at: number, block: Float32Array): void {
    const first = this.#appearanceFrom(Math.min(at, this.#samples.length - blockSamples));
    for (const cell of cells) {
      this.#view!.take(cell, first, 1);
      this.#view!.take(cell, block, 1 / 2);
    }
  }

  /** How the block that begins with this sample looks. */
  #appearanceFrom(sample: number): Float32Array {
    const samples = this.#samples.slice(sample, sample + blockSamples);
    return appearanceOf(
      samples.map(({ shares }) => shares),
      this.#shape,
    );
  }

  #changeCells(cells: number[], distances: readonly number[], block: Float32Array): ChangeEvent {
    const before = this.#view!.reference.slice();
    const { at, first, previous, last } = this.#momentsOf(this.#firstOf(this.#samples, cells, before, block));
    this.#adopt(cells, at, block);
    this.#forget(cells);
    const ended = this.#open.takeEnded(cells, block)?.event;
    if (ended) {
      ended.end = previous;
      return { ...ended, start: first, end: last, cells };
    }
    const strength = Math.max(...cells.map((cell) => distances[cell]!));
    const near = this.#samples.slice(Math.max(0, at - samplesApart), at + samplesApart + 1);
    const joined = this.#open.beside(
      cells,
      near.map(({ moment }) => moment),
    );
    if (joined) {
      joined.cells = [...new Set([...joined.cells, ...cells])].sort((a, b) => a - b);
      joined.strength = Math.max(joined.strength, strength);
      return { ...joined, start: first, cells };
    }
    const event: ChangeEvent = {
      kind: 'left',
      start: first,
      end: last,
      strength,
      cells,
      before: previous,
      after: last,
    };
    this.events.push(event);
    this.#open.add({ event, before, after: block.slice() });
    return event;
  }

  /** The view has changed: to a new one, or back to an earlier one. */
  #changeView({ block, distances }: Comparison): ChangeEvent {
    const left = this.#view!;
    const { at, first, previous, last } = this.#momentsOf(
      this.#firstOf(this.#samples, this.#cells, left.reference, block),
    );
    const change = { start: first, end: last, cells: [...this.#cells] };
    const ended = this.#open.takeEnded(this.#cells, block);
    if (ended) this.#open.endView(ended, previous);
    const event = ended?.event ?? this.#beginView(block, { ...change, strength: Math.max(...distances) }, previous);
    this.#view = ended?.view ?? this.#newView(block);
    // A view that is back has its usual ranges again, but it may look different by now.
    if (ended?.view) this.#adopt(this.#cells, at, block);
    this.#forget(this.#cells);
    this.#drop(at);
    this.#unsettled = 0;
    return { ...event, ...change };
  }

  /** Begins the event of another view. A view after a cover is compared with the view before the cover. */
  #beginView(block: Float32Array, change: Pick<ChangeEvent, 'start' | 'end' | 'cells' | 'strength'>, previous: Moment) {
    const cover = this.#open.ofView?.event.kind === 'covered' ? this.#open.ofView : undefined;
    const view = cover?.view ?? this.#view!;
    const kind = viewChange(view.reference, block, this.#shape) ?? 'view';
    if (cover && kind === 'covered') {
      cover.after = block.slice();
      return cover.event;
    }
    if (cover) this.#open.endView(cover, previous);
    const event: ChangeEvent = { kind, ...change, before: cover?.event.before ?? previous, after: change.end };
    this.events.push(event);
    this.#open.add({ event, before: view.reference, after: block.slice(), view });
    return event;
  }

  /**
   * Makes the view that the block shows. Its first usual distance is the distance from the previous block, which shows
   * the same view.
   */
  #newView(block: Float32Array): View {
    const view = new View(block, this.#shape, this.#times);
    for (const [cell, distance] of apartOfCells(block, this.#last!, this.#shape).entries())
      view.learnBlocks(cell, [distance]);
    return view;
  }

  /** Ends the event of the view if the old view is back for less than two blocks when the frames end. */
  #endBySamples(): ChangeEvent[] {
    const open = this.#open.ofView;
    if (!open) return [];
    const at = this.#firstOf(this.#samples, this.#cells, this.#view!.reference, open.before);
    const tail = this.#samples.slice(at);
    const far = (from: Float32Array): number =>
      tail.reduce((sum, { shares }) => sum + farOf(this.#cells, shares, from, this.#shape), 0);
    if (at === 0 || tail.length === 0 || far(open.before) >= settled * far(this.#view!.reference)) return [];
    const { first, previous, last } = this.#momentsOf(at);
    this.#open.endView(open, previous);
    return [{ ...open.event, start: first, end: last }];
  }

  #momentsOf(split: number): { at: number; first: Moment; previous: Moment; last: Moment } {
    const at = Math.min(split, this.#samples.length - 1);
    const momentOf = (sample: number): Moment => this.#samples[sample]!.moment;
    return {
      at,
      first: momentOf(at),
      previous: momentOf(Math.max(0, at - 1)),
      last: momentOf(this.#samples.length - 1),
    };
  }

  /** Forgets the first samples. */
  #drop(count: number): void {
    if (count <= 0) return;
    this.#samples.splice(0, count);
    this.#begin -= count;
  }
}
