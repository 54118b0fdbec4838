import { sharesOf } from './appearance.ts';
import type { ChangeEvent, Moment } from './change-event.ts';
import { apartOfCells, type CellShape } from './compare-cells.ts';
import { blockSamples, type CameraSample, LastingChanges } from './lasting-changes.ts';
import { PassingChanges } from './passing-changes.ts';
import { Timeline, type TimelinePoint } from './timeline.ts';

export interface WatchOptions {
  /** How long a lasting change must stay: in milliseconds, or in frames if times are not known. */
  readonly minDuration: number;
  /** A distance is not usual from so many standard deviations above the median on. */
  readonly times: number;
}

/** A lasting change is certain after two blocks, so a block is half of its least duration. */
const blocksOfChange = 2;
/**
 * Passing changes wait for this many samples, four least durations: they may still turn out to be part of a lasting
 * change.
 */
const waiting = 4 * blocksOfChange * blockSamples;
const timelinePoints = 2000;

/**
 * Watches one camera, frame by frame, in the order given. Holds the histograms of some hundred frames as float32, and
 * the usual ranges of views that may come back.
 */
export class CameraWatch {
  readonly #shape: CellShape;
  readonly #options: WatchOptions;
  readonly #lasting: LastingChanges;
  readonly #passing: PassingChanges;
  readonly #timeline = new Timeline(timelinePoints);
  readonly #events: ChangeEvent[] = [];
  #samples = 0;
  #nextSample = Number.NEGATIVE_INFINITY;
  #last: CameraSample | undefined;

  constructor(shape: CellShape, options: WatchOptions) {
    this.#shape = shape;
    this.#options = options;
    this.#lasting = new LastingChanges(shape, options.times);
    this.#passing = new PassingChanges(shape, this.#period);
  }

  get timeline(): readonly TimelinePoint[] {
    return this.#timeline.points;
  }

  /** Time from one sample to the next. */
  get #period(): number {
    return this.#options.minDuration / (blocksOfChange * blockSamples);
  }

  add(moment: Moment, counts: ArrayLike<number>): void {
    const sample = { moment, shares: sharesOf(counts, this.#shape) };
    // If the clock goes back, samples begin again at this frame.
    const isBack = this.#last !== undefined && moment.time < this.#last.moment.time;
    const isSample = isBack || moment.time >= this.#nextSample;
    const { view } = this.#lasting;
    const far = view ? this.#passing.add(sample, view, isSample) : 0;
    this.#timeline.add({
      time: moment.time,
      step: this.#last ? this.#meanApart(sample, this.#last) : 0,
      reference: far,
    });
    this.#last = sample;
    if (isSample) this.#addSample(sample);
  }

  /** All events, by their start. */
  finish(): ChangeEvent[] {
    if (this.#last) for (const change of this.#lasting.finish(this.#last.moment)) this.#passing.forget(change);
    this.#events.push(...this.#lasting.events, ...this.#passing.takeEnded());
    return this.#events.sort((a, b) => a.start.time - b.start.time);
  }

  #addSample(sample: CameraSample): void {
    const { time } = sample.moment;
    // Samples have even distances, unless a frame is late by more than one of them.
    const even = this.#nextSample + this.#period;
    this.#nextSample = even > time && even <= time + this.#period ? even : time + this.#period;
    for (const change of this.#lasting.add(sample)) this.#passing.forget(change);
    if (++this.#samples % blockSamples > 0) return;
    if (this.#lasting.isSteady) this.#passing.learn();
    this.#events.push(...this.#passing.takeEnded(waiting));
  }

  #meanApart({ shares }: CameraSample, { shares: others }: CameraSample): number {
    const distances = apartOfCells(shares, others, this.#shape);
    return distances.reduce((sum, distance) => sum + distance, 0) / distances.length;
  }
}
