import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlanNote } from '@halogrid/jobs/shard';
import type { JobSpec } from '@halogrid/proto';
import type { LeftOut, PassedOver } from '@halogrid/sources';
import { CaptureRule } from '@halogrid/sources/captured';
import { PassedOverCount } from './passed-over.ts';

/** The most left-out folders that a plan names; one more note counts the others. */
const maxNotes = 20;

/** Gathers the notes on a plan. */
export class PlanNotes {
  /** URI of the job's own output folder: no note says that it is left out. */
  readonly #out: string;
  readonly #pattern: string;
  readonly #rule: CaptureRule;
  readonly #passedOver: PassedOverCount;
  #waiting: PlanNote[] = [];
  #leftOut = 0;
  #inputs = 0;
  #misfits = 0;
  #videosLeftOut = 0;

  constructor({ out, captured, filter }: Pick<JobSpec, 'out' | 'captured' | 'filter'>) {
    this.#out = out;
    this.#pattern = captured?.from ?? '';
    this.#rule = new CaptureRule(captured);
    this.#passedOver = new PassedOverCount(filter);
  }

  /** To be called with the URI of every input. */
  count(uri: string): void {
    this.#inputs++;
    if (this.#rule.fits(uri) === false) this.#misfits++;
  }

  readonly leaveOut = ({ path, jobId }: LeftOut): void => {
    if (resolve(path) === resolve(fileURLToPath(this.#out))) return;
    if (++this.#leftOut > maxNotes) return;
    this.#waiting.push({ kind: 'note', text: `Left out '${path}': it holds the output of job ${jobId}` });
  };

  /** To be called with every video without a frame in the chosen time. */
  readonly leaveOutVideo = (): void => {
    this.#videosLeftOut++;
  };

  get videosLeftOut(): number {
    return this.#videosLeftOut;
  }

  readonly passOver = (passed: PassedOver): void => this.#passedOver.add(passed);

  /** The notes since the last call. */
  take(): PlanNote[] {
    return this.#waiting.splice(0);
  }

  /** The notes that are left when the plan ends. */
  takeLast(): PlanNote[] {
    const more = this.#leftOut - maxNotes;
    const last: PlanNote = {
      kind: 'note',
      text: `Left out as well: ${more} more folders that hold the output of a job`,
    };
    const passedOver = this.#passedOver.sentences().map((text): PlanNote => ({ kind: 'note', text }));
    return [...this.take(), ...(more > 0 ? [last] : []), ...passedOver, ...this.#noFrames(), ...this.#misfit()];
  }

  #noFrames(): PlanNote[] {
    const videos = this.#videosLeftOut === 1 ? '1 video' : `${this.#videosLeftOut} videos`;
    const text = `${videos} left out: no frames in the chosen time`;
    return this.#videosLeftOut > 0 ? [{ kind: 'note', text }] : [];
  }

  #misfit(): PlanNote[] {
    if (this.#misfits === 0) return [];
    const which =
      this.#misfits === this.#inputs ? 'no input' : `${this.#inputs - this.#misfits} of ${this.#inputs} inputs`;
    const text = `The pattern '${this.#pattern}' of capture times fits ${which}: what it tells is null for the others`;
    return [{ kind: 'note', text: which === 'no input' ? text.replace(' for the others', '') : text }];
  }
}
