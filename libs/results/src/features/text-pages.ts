import { type ColumnPage, noLevels } from './column-page.ts';
import { deltaPack, deltaPackedBytes } from './delta-pack.ts';
import { encodeLevels } from './number-columns.ts';

/**
 * A column of texts in the order in which they were added: each is written as the bytes that it has in common with the one before
 * it and the rest (DELTA_BYTE_ARRAY), so that the URIs of a folder take few. Holds those of one row group.
 */
export class TextPages {
  readonly #path: string[];
  readonly #isOptional: boolean;
  readonly #texts: (string | null)[] = [];

  /** The column is nullable where `isOptional`. */
  constructor(path: string[], isOptional: boolean) {
    this.#path = path;
    this.#isOptional = isOptional;
  }

  add(text: string | null): void {
    this.#texts.push(text);
  }

  /** The column of the texts that were added since the last. */
  take(): ColumnPage {
    const texts = this.#texts.splice(0);
    const known = this.#isOptional ? texts.filter((text) => text !== null) : (texts as string[]);
    const [rows, nulls] = [texts.length, texts.length - known.length];
    const levels = this.#isOptional ? encodeLevels(levelsOf(texts)) : undefined;
    return {
      ...{ path: this.#path, type: 'BYTE_ARRAY', rows, values: rows },
      ...{ ...noLevels, nulls, ...(levels && { definitionLevels: levels }) },
      // An encoding of differences needs a first value.
      ...(known.length > 0
        ? { encoding: 'DELTA_BYTE_ARRAY', data: encode(known) }
        : { encoding: 'PLAIN', data: nothing }),
      statistics: { ...(known.length > 0 && limitsOf(known)), null_count: BigInt(nulls) },
    };
  }
}

const nothing = new Uint8Array();

/** UTF-8 has at most so many bytes for a UTF-16 unit. */
const unitBytes = 3;

function encode(texts: readonly string[]): Uint8Array {
  const count = texts.length;
  const [shared, rest] = [new Int32Array(count), new Int32Array(count)];
  let longest = 0;
  let units = 0;
  for (const text of texts) {
    longest = Math.max(longest, text.length);
    units += text.length;
  }
  let [before, now] = [Buffer.allocUnsafe(unitBytes * longest), Buffer.allocUnsafe(unitBytes * longest)];
  let beforeBytes = 0;
  const packedBytes = 2 * deltaPackedBytes(count);
  const bytes = Buffer.allocUnsafe(packedBytes + unitBytes * units);
  let at = packedBytes;
  for (let i = 0; i < count; i++) {
    if (i > 0 && texts[i] === texts[i - 1]) {
      shared[i] = beforeBytes;
      continue;
    }
    const nowBytes = now.write(texts[i]!);
    const most = Math.min(beforeBytes, nowBytes);
    let same = 0;
    while (same < most && now[same] === before[same]) same++;
    shared[i] = same;
    rest[i] = nowBytes - same;
    at += now.copy(bytes, at, same, nowBytes);
    [before, now, beforeBytes] = [now, before, nowBytes];
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, packedBytes);
  const packedEnd = deltaPack(rest, count, view, deltaPack(shared, count, view, 0));
  bytes.copyWithin(packedEnd, packedBytes, at);
  return bytes.subarray(0, packedEnd + at - packedBytes);
}

function levelsOf(texts: readonly (string | null)[]): Uint8Array {
  const levels = new Uint8Array(texts.length);
  for (let i = 0; i < levels.length; i++) levels[i] = texts[i] === null ? 0 : 1;
  return levels;
}

/** The first and the last in the order of their UTF-8, which Parquet takes as that of texts. */
function limitsOf(texts: readonly string[]): { min_value: string; max_value: string } {
  // UTF-16 has another order where one of them has a pair of surrogates.
  const comesBefore = texts.some((text) => surrogates.test(text)) ? comesBeforeInUtf8 : comesBeforeInUtf16;
  let [min_value, max_value] = [texts[0]!, texts[0]!];
  for (const text of texts) {
    if (comesBefore(max_value, text)) max_value = text;
    else if (comesBefore(text, min_value)) min_value = text;
  }
  return { min_value, max_value };
}

const comesBeforeInUtf16 = (a: string, b: string): boolean => a < b;
const comesBeforeInUtf8 = (a: string, b: string): boolean => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;

const surrogates = /[\ud800-\udfff]/;
