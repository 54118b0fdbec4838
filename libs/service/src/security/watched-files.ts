import { statSync } from 'node:fs';

/** Reports a sentence to the operator of the process. */
export type Warn = (sentence: string) => void;

/** Least milliseconds between two looks at the files, which happen only when the contents are asked for. */
const lookEveryMs = 1_000;

/**
 * The contents of files, read again when one of them changes, so that they can be rotated without a restart. If files
 * are wrong, missing, or not all replaced yet, a warning is logged, and the last good contents stay valid.
 */
export class WatchedFiles<T> {
  readonly #what: string;
  readonly #paths: readonly string[];
  readonly #read: () => T;
  #held: T;
  #version: string;
  #lookedMs: number;

  /**
   * `what` names the contents in sentences: "The tokens". Throws what `read` throws if the files are wrong now. `nowMs`
   * is from a clock that never goes back, here and below.
   */
  constructor(what: string, paths: readonly string[], read: () => T, nowMs: number) {
    this.#what = what;
    this.#paths = paths;
    this.#read = read;
    this.#lookedMs = nowMs;
    // Taken before the files are read, so that a write meanwhile counts as a change.
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
    // Reading the file will report the reason.
    return 'out of reach';
  }
}
