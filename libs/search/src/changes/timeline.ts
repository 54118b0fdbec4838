/** How a camera changed over some consecutive frames: the largest of the mean distances of their cells, 0 to 1. */
export interface TimelinePoint {
  time: number;
  /** Distance from the frame before. */
  step: number;
  /** Distance from the running reference. */
  reference: number;
}

/** Keeps at most `size` points of any number of frames: when it is full, neighbours become one. */
export class Timeline {
  readonly #size: number;
  #points: TimelinePoint[] = [];
  /** Frames of a point. */
  #frames = 1;
  #count = 0;

  /** `size`: even. */
  constructor(size: number) {
    this.#size = size;
  }

  get points(): readonly TimelinePoint[] {
    return this.#points;
  }

  add(point: TimelinePoint): void {
    if (this.#count++ % this.#frames > 0) {
      raise(this.#points.at(-1)!, point);
      return;
    }
    if (this.#points.length === this.#size) {
      const pairs = this.#points;
      this.#points = pairs.filter((_, i) => i % 2 === 0);
      for (const [i, first] of this.#points.entries()) raise(first, pairs[2 * i + 1]!);
      this.#frames *= 2;
    }
    this.#points.push({ ...point });
  }
}

function raise(point: TimelinePoint, by: TimelinePoint): void {
  point.step = Math.max(point.step, by.step);
  point.reference = Math.max(point.reference, by.reference);
}
