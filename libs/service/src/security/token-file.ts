import { type Stats, statSync } from 'node:fs';
import { readSecretFile } from './secret-file.ts';
import { parseTokens, type TokenEntry } from './tokens.ts';

/** The file is looked at this often, when a token is to be checked. */
const lookEveryMs = 1_000;

/**
 * The tokens of a file, read again when it changes, so that they can be rotated without a restart. A file that is wrong or not
 * there any more changes nothing but the log: the last good tokens hold.
 */
export class TokenFile {
  readonly #path: string;
  readonly #warn: (sentence: string) => void;
  #entries: readonly TokenEntry[];
  #version: string;
  #lookedMs: number;

  /** Throws UsageError where the file is wrong now. `nowMs` is of a clock that never goes back, as everywhere here. */
  constructor(path: string, warn: (sentence: string) => void, nowMs: number) {
    this.#path = path;
    this.#warn = warn;
    this.#lookedMs = nowMs;
    this.#version = versionOf(path);
    this.#entries = readTokens(path);
  }

  entries(nowMs: number): readonly TokenEntry[] {
    if (nowMs - this.#lookedMs >= lookEveryMs) {
      this.#lookedMs = nowMs;
      this.#readIfChanged();
    }
    return this.#entries;
  }

  #readIfChanged(): void {
    const version = versionOf(this.#path);
    if (version === this.#version) return;
    this.#version = version;
    try {
      this.#entries = readTokens(this.#path);
    } catch (error) {
      this.#warn(`The tokens stay as they were: ${(error as Error).message}`);
    }
  }
}

/** Throws UsageError. */
export function readTokens(path: string): TokenEntry[] {
  return parseTokens(readSecretFile('--tokens', path), `'${path}' (--tokens)`);
}

function versionOf(path: string): string {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return stats ? [stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ') : 'missing';
}
