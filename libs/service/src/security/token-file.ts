import { readSecretFile } from './secret-file.ts';
import { parseTokens, type TokenEntry } from './tokens.ts';
import { type Warn, WatchedFiles } from './watched-files.ts';

/** The tokens of a file, which can be rotated without a restart. */
export class TokenFile {
  readonly #file: WatchedFiles<readonly TokenEntry[]>;
  readonly #warn: Warn;

  /** Throws UsageError if the file is wrong now. `nowMs` is from a clock that never goes back, here and below. */
  constructor(path: string, warn: Warn, nowMs: number) {
    this.#warn = warn;
    this.#file = new WatchedFiles('The tokens', [path], () => readTokens(path), nowMs);
  }

  entries(nowMs: number): readonly TokenEntry[] {
    return this.#file.current(nowMs, this.#warn);
  }
}

/** Reads the tokens of a file. Throws UsageError. */
export function readTokens(path: string): TokenEntry[] {
  return parseTokens(readSecretFile('--tokens', path), `'${path}' (--tokens)`);
}
