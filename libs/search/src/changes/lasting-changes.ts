import { apart, appearanceOf, type CellShape } from './appearance.ts';
import type { ChangeEvent, Moment } from './change-event.ts';
import { viewChange } from './change-kind.ts';
import { changePoint } from './change-point.ts';
import { apartOfCells } from './compare-cells.ts';
import { groupsOf, touch } from './neighbours.ts';
import { UsualRange } from './usual-range.ts';

/** A frame of a camera, as shares. */
export interface Sample {
  readonly moment: Moment;
  readonly shares: Float32Array;
}

/** Samples whose common appearance is compared: what passes within two of them leaves no trace in it. */
export const blockSamples = 8;
/** Blocks that are kept, to look for the sample a change began with. One that has not settled after as many is usual from then on. */
const keptBlocks = 5;
/** Blocks from which the usual distance is known: 512 samples. */
const usualBlocks = 64;
/** A cell needs so many distances of its own; until then those of all cells together tell what is usual. */
const ownBlocks = 8;
/** The reference moves this part of the way to each block: shadows and dusk become usual in some eight of them. */
const adaption = 1 / 8;
/** A cell whose appearance is no further off than this has not changed, however quiet it was. */
const leastChange = 0.03;
/** Two blocks show the same where they are nearer to each other than this part of the way from the reference. */
const settled = 0.5;
/** So many of the cells change where the view does; and so many of those are certain before it is told what became of it. */
const viewShare = 0.4;
const certainShare = 0.6;
/** Changes of cells that touch, at most so many samples apart, are one. */
const samplesApart = 4;
/** Open events that are remembered, so that their end is noticed. */
const rememberedEvents = 32;

/** An event that is not over, with how its cells looked before and look since, for all cells of the frame. */
interface OpenEvent {
  event: ChangeEvent;
  before: Float32Array;
  after: Float32Array;
}

/**
 * Finds what changes in a camera and stays, from samples at even distances. The appearance of each block of samples is compared with
 * a running reference; a cell has changed where two blocks in a row are further from it than usual and near each other. `reference`
 * is how the camera looks.
 */
export class LastingChanges {
  readonly events: ChangeEvent[] = [];
  readonly #shape: CellShape;
  readonly #times: number;
  readonly #usual: UsualRange[];
  readonly #usualOfAll = new UsualRange(1024);
  /** For how many blocks each cell has looked otherwise. */
  readonly #otherwise: Uint8Array;
  #samples: Sample[] = [];
  #inBlock = 0;
  #last: Float32Array | undefined;
  #reference: Float32Array | undefined;
  #open: OpenEvent[] = [];

  /** `times`: standard deviations above the median from which a distance is not usual. */
  constructor(shape: CellShape, times: number) {
    const cells = shape.rows * shape.columns;
    this.#shape = shape;
    this.#times = times;
    this.#usual = Array.from({ length: cells }, () => new UsualRange(usualBlocks));
    this.#otherwise = new Uint8Array(cells);
  }

  get reference(): Float32Array | undefined {
    return this.#reference;
  }

  /** The cells of the event that this sample has made certain, and from which sample on; mostly none. */
  add(sample: Sample): ChangeEvent[] {
    this.#samples.push(sample);
    if (++this.#inBlock < blockSamples) return [];
    this.#inBlock = 0;
    const block = appearanceOf(
      this.#samples.slice(-blockSamples).map(({ shares }) => shares),
      this.#shape,
    );
    const changed = this.#compare(block);
    if (this.#samples.length > keptBlocks * blockSamples) this.#samples.splice(0, blockSamples);
    this.#last = block;
    return changed;
  }

  /** Events that go on end with the last frame. */
  finish(last: Moment): void {
    for (const { event } of this.#open) event.end = last;
  }

  #compare(block: Float32Array): ChangeEvent[] {
    const reference = this.#reference;
    if (!reference) {
      this.#reference = block.slice();
      return [];
    }
    const { bins } = this.#shape;
    const distances = [...apartOfCells(block, reference, this.#shape)];
    const certain: number[] = [];
    let moved = 0;
    for (const [cell, distance] of distances.entries()) {
      const isOtherwise = distance > this.#limitOf(cell);
      if (isOtherwise) moved++;
      const isSettled = this.#last && apart(block, this.#last, cell, bins) < settled * distance;
      if (isOtherwise && this.#otherwise[cell]! > 0 && isSettled) certain.push(cell);
      this.#otherwise[cell] = isOtherwise && this.#otherwise[cell]! < keptBlocks - 1 ? this.#otherwise[cell]! + 1 : 0;
    }
    distances.forEach((distance, cell) => {
      const own = this.#usual[cell]!;
      if (own.count < ownBlocks) this.#usualOfAll.add(distance);
      own.add(distance);
    });
    const isView = moved >= viewShare * distances.length;
    // Parts of a view that has not settled wait for the others.
    if (isView && certain.length < certainShare * moved) certain.length = 0;
    const changedCells =
      isView && certain.length > 0 ? [distances.map((_, cell) => cell)] : groupsOf(certain, this.#shape);
    const changes = changedCells.map((cells) => this.#change(cells, isView, distances, block));
    for (const cells of changedCells) for (const cell of cells) this.#take(cell, block, 1);
    // How far blocks of the other view are from each other, this one's cells do not tell.
    if (isView && changes.length > 0) for (const usual of [...this.#usual, this.#usualOfAll]) usual.clear();
    for (let cell = 0; cell < distances.length; cell++)
      if (this.#otherwise[cell] === 0) this.#take(cell, block, adaption);
    return changes;
  }

  #limitOf(cell: number): number {
    const own = this.#usual[cell]!;
    const usual = own.count >= ownBlocks ? own : this.#usualOfAll;
    return usual.count === 0 ? 4 * leastChange : Math.max(leastChange, usual.limit(this.#times));
  }

  /** Moves the reference of a cell a part of the way to the block. */
  #take(cell: number, block: Float32Array, part: number): void {
    const { bins } = this.#shape;
    for (let i = cell * bins; i < (cell + 1) * bins; i++)
      this.#reference![i]! += part * (block[i]! - this.#reference![i]!);
    if (part === 1) this.#otherwise[cell] = 0;
  }

  #change(cells: number[], isView: boolean, distances: readonly number[], block: Float32Array): ChangeEvent {
    const { bins } = this.#shape;
    const before = this.#reference!.slice();
    const far = (sample: Sample, from: Float32Array): number =>
      cells.reduce((sum, cell) => sum + apart(sample.shares, from, cell, bins), 0);
    const at = changePoint(
      this.#samples.map((sample) => far(sample, before)),
      this.#samples.map((sample) => far(sample, block)),
    );
    const start = Math.min(at, this.#samples.length - 1);
    const [first, previous] = [this.#samples[start]!.moment, this.#samples[Math.max(0, start - 1)]!.moment];
    const last = this.#samples.at(-1)!.moment;
    const ended = this.#endOf(cells, block);
    if (ended) {
      ended.end = previous;
      if (isView) this.#endAllSince(ended.start, previous);
      return { ...ended, start: first, end: last, cells };
    }
    const strength = Math.max(...cells.map((cell) => distances[cell]!));
    const joined = isView ? undefined : this.#joined(cells, start);
    if (joined) {
      joined.cells = [...new Set([...joined.cells, ...cells])].sort((a, b) => a - b);
      joined.strength = Math.max(joined.strength, strength);
      return { ...joined, start: first, cells };
    }
    const kind = isView ? (viewChange(before, block, this.#shape) ?? 'view') : 'left';
    const event: ChangeEvent = { kind, start: first, end: last, strength, cells, before: previous, after: last };
    this.events.push(event);
    this.#open.push({ event, before, after: block.slice() });
    if (this.#open.length > rememberedEvents) this.#forget(last);
    return event;
  }

  /** The open event whose cells look again as they did before it, rather than as since. It is over. */
  #endOf(cells: readonly number[], block: Float32Array): ChangeEvent | undefined {
    const { bins } = this.#shape;
    for (const [i, { event, before, after }] of this.#open.entries()) {
      const common = event.cells.filter((cell) => cells.includes(cell));
      if (2 * common.length < Math.max(event.cells.length, cells.length)) continue;
      const toBefore = common.reduce((sum, cell) => sum + apart(block, before, cell, bins), 0);
      const toAfter = common.reduce((sum, cell) => sum + apart(block, after, cell, bins), 0);
      if (toBefore >= settled * toAfter) continue;
      this.#open.splice(i, 1);
      return event;
    }
    return undefined;
  }

  /** What came while the view was another one is no longer to be seen. */
  #endAllSince({ time }: Moment, last: Moment): void {
    for (const { event } of this.#open) if (event.start.time >= time) event.end = last;
    this.#open = this.#open.filter(({ event }) => event.start.time < time);
  }

  #joined(cells: readonly number[], start: number): ChangeEvent | undefined {
    const near = this.#samples.slice(Math.max(0, start - samplesApart), start + samplesApart + 1);
    const isNear = ({ event }: OpenEvent): boolean =>
      event.kind === 'left' &&
      near.some(({ moment }) => moment === event.start) &&
      event.cells.some((one) => cells.some((other) => touch(one, other, this.#shape)));
    return this.#open.find(isNear)?.event;
  }

  #forget(last: Moment): void {
    this.#open.shift()!.event.end = last;
  }
}
