import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LeftOut } from '@halogrid/sources';
import type { PlanNote } from '../job/shard.ts';

/** Told of one plan, at most; of the others, one note tells how many there are. */
const maxNotes = 20;

/** Gathers what is to be told of a plan. */
export class PlanNotes {
  readonly #out: string;
  #waiting: PlanNote[] = [];
  #leftOut = 0;

  /** `out` is the URI of the job's own output folder: that it is no input goes without saying. */
  constructor(out: string) {
    this.#out = out;
  }

  readonly leaveOut = ({ path, jobId }: LeftOut): void => {
    if (resolve(path) === resolve(fileURLToPath(this.#out))) return;
    if (++this.#leftOut > maxNotes) return;
    this.#waiting.push({ kind: 'note', text: `Left out '${path}': it holds the output of job ${jobId}` });
  };

  /** Those that have come since. */
  take(): PlanNote[] {
    return this.#waiting.splice(0);
  }

  /** Those that are left, when the plan ends. */
  takeLast(): PlanNote[] {
    const more = this.#leftOut - maxNotes;
    const last: PlanNote = {
      kind: 'note',
      text: `Left out as well: ${more} more folders that hold the output of a job`,
    };
    return more > 0 ? [...this.take(), last] : this.take();
  }
}
