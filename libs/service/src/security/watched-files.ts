import { statSync } from 'node:fs';

/** Takes a sentence for whoever runs the process. */
export type Warn = (sentence: string) => void;

/** Files are looked at this often, when what they hold is asked for. */
const lookEveryMs = 1_000;

/**
 * What files hold, read again when one of them changes, so that they can be rotated without a restart. Files that are
 * wrong, not there any more, or not all replaced yet change nothing but the log: what they held last holds.
 */
export class WatchedFiles<T> {
  readonly #what: string;
  readonly #paths: readonly string[];
  readonly #read: () => T;
  #held: T;
  #version: string;
  #lookedMs: number;

  /**
   * `what` they hold, for sentences: "The tokens". Throws what `read` does where the files are wrong now. `nowMs` is of
   * a clock that never goes back, as everywhere here.
   */
  constructor(what: string, paths: readonly string[], read: () => T, nowMs: number) {
    this.#what = what;
    this.#paths = paths;
    this.#read = read;
    this.#lookedMs = nowMs;
    // Before they are read: what is written meanwhile is a change.
    this.#version = this.#versionNow();
    this.#held = read();
  }

  /** The same value until the files change. */
  current(nowMs: number, warn: Warn): T {
    if (nowMs - this.#lookedMs < lookEveryMs) return this.#held;
    this.#lookedMs = nowMs;
    const version = this.#versionNow();
    if (version === this.#version) return this.#held;
    this.#version = version;
    try {
      this.#held = this.#read();
    } catch (error) {
      warn(`${this.#what} stay as they were: ${(error as Error).message}`);
    }
    return this.#held;
  }

  #versionNow(): string {
    return this.#paths.map(versionOf).join('\n');
  }
}

function versionOf(path: string): string {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch {
    // Reading it says why.
    return 'out of reach';
  }
}
