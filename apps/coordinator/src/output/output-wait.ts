import { lackOf, type OutputLack, waitedInVain, waitsFor } from '@halogrid/jobs/output-lack';
import { WantError } from '@halogrid/jobs/want-error';
import type { Pause } from '@halogrid/service/system-pause';

/** Calls `write`, and repeats it while the output has no room or is missing. */
export type UntilWritten = <T>(write: () => Promise<T>) => Promise<T>;

/** Writes once, without waiting. */
export const atOnce: UntilWritten = (write) => write();

/** How long the job waits for each kind of lack, in milliseconds. */
export type OutputGraces = Record<OutputLack['kind'], number>;

export interface OutputWaitOptions {
  /** Path of the output, for people. */
  folder: string;
  graceMs: OutputGraces;
  nowMs: () => number;
  pause: Pause;
  /** Free bytes in the folder; undefined if unknown. Never rejects. */
  free: () => Promise<number | undefined>;
  /** Aborts when nothing needs to be written any more. */
  signal: AbortSignal;
}

const firstPauseMs = 100;
const longestPauseMs = 5_000;

/**
 * A failed write may have been large, so it is repeated only when more bytes are free than before, or after this time,
 * because free bytes do not show a quota.
 */
const anywayMs = 60_000;

/** What a job's output lacks for now, which writer found that, and since when. */
export class OutputWait {
  readonly #options: OutputWaitOptions;
  readonly #lacking = new Map<unknown, { lack: OutputLack; sinceMs: number }>();
  #free: number | undefined;
  #measuring: Promise<void> | undefined;

  constructor(options: OutputWaitOptions) {
    this.#options = options;
  }

  /** A sentence on what the job waits for; undefined if it does not wait. */
  get sentence(): string | undefined {
    const [first] = this.#lacking.values();
    return first && waitsFor(this.#options.folder, { ...first.lack, freeBytes: this.#free });
  }

  /** Rejects with WantError after waiting for too long, and with the signal's reason when it aborts. */
  readonly until: UntilWritten = async (write) => {
    const who = {};
    const { signal, nowMs, pause } = this.#options;
    try {
      for (let pauseMs = firstPauseMs; ; ) {
        try {
          return await write();
        } catch (error) {
          signal.throwIfAborted();
          const lack = lackOf(error);
          if (!lack) throw error;
          await this.#measure();
          const [triedMs, before] = [nowMs(), this.#free];
          do {
            this.note(who, lack);
            await pause(pauseMs, signal);
            signal.throwIfAborted();
            pauseMs = Math.min(2 * pauseMs, longestPauseMs);
            await this.#measure();
          } while (lack.kind === 'room' && !this.#hasMoreThan(before) && nowMs() - triedMs < anywayMs);
        }
      }
    } finally {
      this.#lacking.delete(who);
    }
  };

  /**
   * Notes what `who` found lacking; undefined: nothing is lacking any more. Throws WantError after it has been lacking
   * for too long.
   */
  note(who: unknown, lack: OutputLack | undefined): void {
    if (!lack) {
      this.#lacking.delete(who);
      return;
    }
    const { folder, graceMs, nowMs } = this.#options;
    const sinceMs = this.#lacking.get(who)?.sinceMs ?? nowMs();
    this.#lacking.set(who, { lack, sinceMs });
    if (this.#free === undefined) void this.#measure();
    const waitedMs = nowMs() - sinceMs;
    if (waitedMs < graceMs[lack.kind]) return;
    throw new WantError(waitedInVain(folder, { ...lack, freeBytes: this.#free }, waitedMs));
  }

  #hasMoreThan(before: number | undefined): boolean {
    return before === undefined || this.#free === undefined || this.#free > before;
  }

  #measure(): Promise<void> {
    this.#measuring ??= this.#options.free().then((free) => {
      this.#free = free;
      this.#measuring = undefined;
    });
    return this.#measuring;
  }
}
