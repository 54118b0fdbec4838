import { apart } from './appearance.ts';
import type { ChangeEvent, Moment } from './change-event.ts';
import type { CellShape } from './compare-cells.ts';
import { touch } from './neighbours.ts';
import type { View } from './view.ts';

/** An event that is not over. */
export interface OpenEvent {
  readonly event: ChangeEvent;
  /** How all cells of the frame looked before the event, and have looked since. */
  readonly before: Float32Array;
  after: Float32Array;
  /** If the view changed: the view before the event, which may come back. */
  readonly view?: View;
}

/**
 * A block or sample matches an earlier look if its distance to that is less than this share of its distance to the
 * later one.
 */
export const settled = 0.5;
/** The most open events that are kept, so that their end is noticed. */
const rememberedEvents = 32;

/** The events of a camera that are not over. */
export class OpenEvents {
  readonly #shape: CellShape;
  #open: OpenEvent[] = [];

  constructor(shape: CellShape) {
    this.#shape = shape;
  }

  /** The event with which the present view began. */
  get ofView(): OpenEvent | undefined {
    return this.#open.findLast(({ view }) => view !== undefined);
  }

  add(open: OpenEvent): void {
    this.#open.push(open);
    if (this.#open.length > rememberedEvents) this.#open.shift()!.event.end = open.event.end;
  }

  /** Removes and returns an event that is over, because its cells look as before it again. */
  takeEnded(cells: readonly number[], looks: Float32Array): OpenEvent | undefined {
    const at = this.#open.findIndex((open) => this.#isOver(open, cells, looks));
    return at < 0 ? undefined : this.#open.splice(at, 1)[0];
  }

  /** Ends an event of the view, and with it all events that began in that view: they are no longer visible. */
  endView({ event }: OpenEvent, last: Moment): void {
    event.end = last;
    const { time } = event.start;
    for (const { event: one } of this.#open) if (one.start.time >= time) one.end = last;
    this.#open = this.#open.filter((one) => one.event !== event && one.event.start.time < time);
  }

  endAll(last: Moment): void {
    for (const { event } of this.#open) event.end = last;
  }

  /** An event of the kind `left` beside these cells, which began at one of the moments. */
  beside(cells: readonly number[], moments: readonly Moment[]): ChangeEvent | undefined {
    const isBeside = ({ event }: OpenEvent): boolean =>
      event.kind === 'left' &&
      moments.includes(event.start) &&
      event.cells.some((one) => cells.some((other) => touch(one, other, this.#shape)));
    return this.#open.find(isBeside)?.event;
  }

  #isOver({ event, before, after }: OpenEvent, cells: readonly number[], looks: Float32Array): boolean {
    const common = event.cells.filter((cell) => cells.includes(cell));
    if (2 * common.length < Math.max(event.cells.length, cells.length)) return false;
    return farOf(common, looks, before, this.#shape) < settled * farOf(common, looks, after, this.#shape);
  }
}

/** The sum of the distances of these cells. */
export function farOf(cells: readonly number[], a: Float32Array, b: Float32Array, { bins }: CellShape): number {
  return cells.reduce((sum, cell) => sum + apart(a, b, cell, bins), 0);
}
