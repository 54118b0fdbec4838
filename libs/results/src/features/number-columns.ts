import { ByteWriter } from 'hyparquet-writer';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import type { EncodedColumn, Limits } from './column-page.ts';
import { deltaPack, deltaPackedBytes, maxDeltaPacked } from './delta-pack.ts';

/** Encodes levels of 0 and 1 for a page. */
export function encodeLevels(levels: ArrayLike<number>): Uint8Array {
  encoded.index = 0;
  // The function reads levels by index only, so they need not be an array.
  writeRleBitPackedHybrid(encoded, levels as number[], 1);
  return encoded.getBytes().slice();
}

/** The levels that are being encoded. */
const encoded = new ByteWriter();

/** Encodes whole numbers from 0 to 2^53 - 1 without nulls: packed if all have at most 31 bits, else 8 bytes each. */
export function encodeCounts(type: 'INT32' | 'INT64', counts: ArrayLike<number>): EncodedColumn {
  const values = counts.length;
  let [least, largest] = [Infinity, 0];
  for (let i = 0; i < values; i++) {
    const count = counts[i]!;
    if (count < least) least = count;
    if (count > largest) largest = count;
  }
  const limits = limitsOf(type, least, largest);
  if (largest > maxDeltaPacked) return { encoding: 'PLAIN', values, nulls: 0, data: plainInt64(counts), limits };
  const bytes = new Uint8Array(deltaPackedBytes(values));
  const data = bytes.subarray(0, deltaPack(counts, values, new DataView(bytes.buffer), 0));
  return { encoding: 'DELTA_BINARY_PACKED', values, nulls: 0, data, limits };
}

/** Encodes a column of whole numbers (INT64) or of any numbers (DOUBLE). NaN becomes null. */
export function encodeOptional(type: 'INT64' | 'DOUBLE', numbers: Float64Array): EncodedColumn {
  const values = numbers.length;
  const levels = new Uint8Array(values);
  const bytes = new DataView(new ArrayBuffer(8 * values));
  let [least, largest] = [Infinity, -Infinity];
  let end = 0;
  for (let i = 0; i < values; i++) {
    const number = numbers[i]!;
    if (Number.isNaN(number)) continue;
    levels[i] = 1;
    if (type === 'DOUBLE') bytes.setFloat64(end, number, true);
    else putInt64(bytes, end, number);
    end += 8;
    if (number < least) least = number;
    if (number > largest) largest = number;
  }
  const limits = end > 0 ? limitsOf(type, least, largest) : undefined;
  const data = new Uint8Array(bytes.buffer, 0, end);
  return { encoding: 'PLAIN', values, nulls: values - end / 8, definitionLevels: encodeLevels(levels), data, limits };
}

/** Encodes a column of flags without nulls. */
export function encodeFlags(flags: readonly boolean[]): EncodedColumn {
  const data = new Uint8Array(Math.ceil(flags.length / 8));
  for (let i = 0; i < flags.length; i++) if (flags[i]) data[i >> 3]! |= 1 << (i & 7);
  return { encoding: 'PLAIN', values: flags.length, nulls: 0, data };
}

function limitsOf(type: 'INT32' | 'INT64' | 'DOUBLE', least: number, largest: number): Limits {
  // Zero may be the double 0 or -0, and the limits must include both.
  if (type === 'DOUBLE') return { least: least === 0 ? -0 : least, largest: largest === 0 ? 0 : largest };
  if (type === 'INT64') return { least: BigInt(least), largest: BigInt(largest) };
  return { least, largest };
}

/** Whole numbers from 0 to 2^53 - 1, 8 bytes each. */
export function plainInt64(counts: ArrayLike<number>): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8 * counts.length));
  for (let i = 0; i < counts.length; i++) putInt64(bytes, 8 * i, counts[i]!);
  return new Uint8Array(bytes.buffer);
}

/** Puts a whole number from -2^53 to 2^53, without a bigint. Storing it as uint32 keeps its lower half. */
function putInt64(bytes: DataView, at: number, number: number): void {
  bytes.setUint32(at, number, true);
  bytes.setInt32(at + 4, Math.floor(number / 2 ** 32), true);
}
