import type { CellShape } from './appearance.ts';
import type { ChangeEvent, Moment } from './change-event.ts';
import { apartOfCells } from './compare-cells.ts';
import type { Sample } from './lasting-changes.ts';
import { medianOf, UsualRange } from './usual-range.ts';

/** Samples from which the usual distance of a cell is known, and how many of them must be there. */
const usualSamples = 128;
const learned = 8;
/** So few samples may deviate less than usual by chance: until then, no cell is taken for quieter than most. */
const ownDeviation = 64;
/** A cell is no further off than usual where it is no further off than usual by this. */
const leastExcess = 0.03;

/** When a cell was the first and the last to look otherwise, and when most. */
interface Seen {
  first: Moment;
  last: Moment;
  peak: Moment;
  strength: number;
}

/** Cells that look otherwise for a while. */
interface Passage {
  last: Moment;
  before: Moment;
  cells: Map<number, Seen>;
}

/**
 * Finds what passes through a camera: frames some of whose cells are further from the reference than usual. Frames of one passage
 * are at most `gap` apart in time.
 */
export class PassingChanges {
  readonly #shape: CellShape;
  readonly #times: number;
  readonly #gap: number;
  readonly #usual: UsualRange[];
  #limits: Float32Array | undefined;
  #passages: Passage[] = [];
  #quiet: Moment | undefined;

  constructor(shape: CellShape, times: number, gap: number) {
    this.#shape = shape;
    this.#times = times;
    this.#gap = gap;
    this.#usual = Array.from({ length: shape.rows * shape.columns }, () => new UsualRange(usualSamples));
  }

  /** The mean distance of the cells from the reference. `isSample`: what is usual is learned from it. */
  add({ moment, shares }: Sample, reference: Float32Array, isSample: boolean): number {
    let [sum, isQuiet] = [0, true];
    const distances = apartOfCells(shares, reference, this.#shape);
    for (let cell = 0; cell < distances.length; cell++) {
      const distance = distances[cell]!;
      sum += distance;
      if (isSample) this.#usual[cell]!.add(distance);
      if (!this.#limits || distance <= this.#limits[cell]!) continue;
      isQuiet = false;
      this.#note(cell, distance, moment);
    }
    if (isQuiet) this.#quiet = moment;
    return sum / this.#usual.length;
  }

  /** Takes what was learned until now for usual. */
  learn(): void {
    if (this.#usual[0]!.count < learned) return;
    const most = medianOf(Float32Array.from(this.#usual, ({ deviation }) => deviation));
    this.#limits = Float32Array.from(this.#usual, ({ count, median, deviation }) => {
      const usual = count < ownDeviation ? Math.max(deviation, most) : deviation;
      return median + Math.max(leastExcess, this.#times * usual);
    });
  }

  /** What looked otherwise in cells of a lasting change, since shortly before it began, is that change. */
  forget({ start, cells }: ChangeEvent): void {
    for (const passage of this.#passages) {
      for (const cell of cells) {
        const seen = passage.cells.get(cell);
        if (seen && seen.last.time >= start.time - this.#gap) passage.cells.delete(cell);
      }
    }
    this.#passages = this.#passages.filter(({ cells: left }) => left.size > 0);
  }

  /** Passages that ended before that time, which nothing can become of any more; all without one. */
  takeEnded(before = Number.POSITIVE_INFINITY): ChangeEvent[] {
    const ended = this.#passages.filter(({ last }) => last.time < before);
    this.#passages = this.#passages.filter(({ last }) => last.time >= before);
    return ended.map(eventOf);
  }

  #note(cell: number, strength: number, moment: Moment): void {
    let passage = this.#passages.at(-1);
    if (!passage || moment.time - passage.last.time > this.#gap) {
      passage = { last: moment, before: this.#quiet ?? moment, cells: new Map() };
      this.#passages.push(passage);
    }
    passage.last = moment;
    const seen = passage.cells.get(cell);
    if (!seen) passage.cells.set(cell, { first: moment, last: moment, peak: moment, strength });
    else {
      seen.last = moment;
      if (strength > seen.strength) [seen.strength, seen.peak] = [strength, moment];
    }
  }
}

function eventOf({ before, cells }: Passage): ChangeEvent {
  const seen = [...cells.values()];
  const { first: start } = seen.reduce((least, one) => (one.first.time < least.first.time ? one : least));
  const { last: end } = seen.reduce((most, one) => (one.last.time > most.last.time ? one : most));
  const { peak, strength } = seen.reduce((most, one) => (one.strength > most.strength ? one : most));
  const numbers = [...cells.keys()].sort((a, b) => a - b);
  return { kind: 'passing', start, end, strength, cells: numbers, before, after: peak };
}
