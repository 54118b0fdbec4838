import { readSecretFile } from './secret-file.ts';
import { parseTokens, type TokenEntry } from './tokens.ts';
import { type Warn, WatchedFiles } from './watched-files.ts';

/** The tokens of a file, which can be rotated without a restart. */
export class TokenFile {
  readonly #file: WatchedFiles<readonly TokenEntry[]>;
  readonly #warn: Warn;

  /** Throws UsageError where the file is wrong now. `nowMs` is of a clock that never goes back, as everywhere here. */
  constructor(path: string, warn: Warn, nowMs: number) {
    this.#warn = warn;
    this.#file = new WatchedFiles('The tokens', [path], () => readTokens(path), nowMs);
  }

  entries(nowMs: number): readonly TokenEntry[] {
    return this.#file.current(nowMs, this.#warn);
  }
}

/** Throws UsageError. */
export function readTokens(path: string): TokenEntry[] {
  return parseTokens(readSecretFile('--tokens', path), `'${path}' (--tokens)`);
}
