import type { ChangeEvent, Moment } from './change-event.ts';
import type { CellShape } from './compare-cells.ts';
import { apartOfCells } from './compare-cells.ts';
import type { CameraSample } from './lasting-changes.ts';
import type { View } from './view.ts';

/** The first and the last moment at which a cell looked different, and the moment at which it did most. */
interface Seen {
  first: Moment;
  last: Moment;
  peak: Moment;
  strength: number;
}

/** Cells that look different for a while. */
interface Passage {
  last: Moment;
  /** The number of samples up to `last`. */
  samples: number;
  before: Moment;
  cells: Map<number, Seen>;
}

/**
 * Finds passing changes: frames in which some cells are further from the view than usual. Frames of one passage are at
 * most `gap` apart in time.
 */
export class PassingChanges {
  readonly #shape: CellShape;
  readonly #gap: number;
  #view: View | undefined;
  /** Distances of samples that the view has not learned yet. */
  #waiting: Float32Array[] = [];
  #samples = 0;
  #passages: Passage[] = [];
  #quiet: Moment | undefined;

  constructor(shape: CellShape, gap: number) {
    this.#shape = shape;
    this.#gap = gap;
  }

  /** Returns the mean distance of the cells from the view. `isSample`: the usual range is learned from this frame. */
  add({ moment, shares }: CameraSample, view: View, isSample: boolean): number {
    // The last samples before a new view was recognised already showed the new view.
    if (view !== this.#view) this.#waiting = [];
    this.#view = view;
    let [sum, isQuiet] = [0, true];
    const [distances, limits] = [apartOfCells(shares, view.reference, this.#shape), view.sampleLimits];
    if (isSample) {
      this.#samples++;
      this.#waiting.push(Float32Array.from(distances));
    }
    for (let cell = 0; cell < distances.length; cell++) {
      const distance = distances[cell]!;
      sum += distance;
      if (!limits || distance <= limits[cell]!) continue;
      isQuiet = false;
      this.#note(cell, distance, moment);
    }
    if (isQuiet) this.#quiet = moment;
    return sum / distances.length;
  }

  /** Adds the samples of the view so far to its usual range. */
  learn(): void {
    this.#view?.learnSamples(this.#waiting);
    this.#waiting = [];
  }

  /**
   * Forgets what was seen in the cells of a lasting change since shortly before it began: it belongs to that change.
   */
  forget({ start, cells }: ChangeEvent): void {
    for (const passage of this.#passages) {
      for (const cell of cells) {
        const seen = passage.cells.get(cell);
        if (seen && seen.last.time >= start.time - this.#gap) passage.cells.delete(cell);
      }
    }
    this.#passages = this.#passages.filter(({ cells: left }) => left.size > 0);
  }

  /**
   * Removes and returns passages that ended at least `waiting` samples ago: they can no longer become lasting changes.
   * Without a number, all.
   */
  takeEnded(waiting = 0): ChangeEvent[] {
    const isOver = ({ samples }: Passage): boolean => this.#samples - samples >= waiting;
    const ended = this.#passages.filter(isOver);
    this.#passages = this.#passages.filter((passage) => !isOver(passage));
    return ended.map(eventOf);
  }

  #note(cell: number, strength: number, moment: Moment): void {
    let passage = this.#passages.at(-1);
    if (!passage || moment.time - passage.last.time > this.#gap) {
      passage = { last: moment, samples: this.#samples, before: this.#quiet ?? moment, cells: new Map() };
      this.#passages.push(passage);
    }
    passage.last = moment;
    passage.samples = this.#samples;
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
