import type { JobSpec } from '@halogrid/proto';
import { CaptureRule, type CaptureTime, timeOfFile } from '@halogrid/sources/captured';
import { CapturedTimes } from './captured-times.ts';
import type { Merge } from './merge.ts';

/** When the sources of a job were captured, or were changed where it goes by that. */
export class JobCaptures {
  readonly goesByMtime: boolean;
  /**
   * What is stated of when sources were captured that were not done as frames of a shard; none where the job goes by
   * times of change.
   */
  readonly times = new CapturedTimes();
  readonly #merge: Merge;

  /** `merge` knows versions, and the times of frames of shards. */
  constructor(spec: JobSpec, merge: Merge) {
    this.goesByMtime = new CaptureRule(spec.captured).isMtime;
    this.#merge = merge;
  }

  /** Takes down what a file states, once: tiles of an image all say the same. False where that changes nothing. */
  take(source: number, time: CaptureTime): boolean {
    if (this.goesByMtime || this.times.get(source)) return false;
    this.times.set(source, time);
    return true;
  }

  of(index: number): CaptureTime | undefined {
    const known = this.times.get(index);
    if (known) return known;
    const version = () => this.#merge.planned(index).version;
    return timeOfFile(this.goesByMtime, version, () => this.#merge.captured(index));
  }
}
