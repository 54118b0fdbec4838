import type { ParquetType } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { type ColumnPage, noLevels } from './column-page.ts';
import { deltaPack, deltaPackedBytes, maxDeltaPacked } from './delta-pack.ts';

/** Levels of 0 and 1, as a page has them. */
export function encodeLevels(levels: ArrayLike<number>): Uint8Array {
  const bytes = new ByteWriter();
  // It only indexes them.
  writeRleBitPackedHybrid(bytes, levels as number[], 1);
  return bytes.getBytes();
}

/** Whole numbers from 0 to 2^53 - 1, the largest of which is `largest`: packed where they have 31 bits, else 8 bytes each. */
export function encodeCounts(
  counts: ArrayLike<number>,
  count: number,
  largest: number,
): Pick<ColumnPage, 'data' | 'encoding'> {
  if (largest > maxDeltaPacked) return { data: plainInt64(counts, count), encoding: 'PLAIN' };
  const bytes = new Uint8Array(deltaPackedBytes(count));
  const end = deltaPack(counts, count, new DataView(bytes.buffer), 0);
  return { data: bytes.subarray(0, end), encoding: 'DELTA_BINARY_PACKED' };
}

/** A column of whole numbers from 0 to 2^53 - 1, none of them null. */
export function countsPage(path: string[], type: 'INT32' | 'INT64', counts: Float64Array): ColumnPage {
  let [least, largest] = [Infinity, 0];
  for (const count of counts) {
    if (count < least) least = count;
    if (count > largest) largest = count;
  }
  const rows = counts.length;
  const statistics = { ...limitsOf(type, least, largest), null_count: 0n };
  return { path, type, rows, values: rows, ...noLevels, ...encodeCounts(counts, rows, largest), statistics };
}

/** A column of whole numbers (INT64) or of any (DOUBLE); those that are NaN are null. */
export function optionalPage(path: string[], type: 'INT64' | 'DOUBLE', numbers: Float64Array): ColumnPage {
  const rows = numbers.length;
  const levels = new Uint8Array(rows);
  const known = new Float64Array(rows);
  let count = 0;
  for (let i = 0; i < rows; i++) {
    const number = numbers[i]!;
    if (Number.isNaN(number)) continue;
    levels[i] = 1;
    known[count++] = number;
  }
  const bytes = new DataView(new ArrayBuffer(8 * count));
  let [least, largest] = [Infinity, -Infinity];
  for (let i = 0; i < count; i++) {
    const number = known[i]!;
    if (type === 'DOUBLE') bytes.setFloat64(8 * i, number, true);
    else bytes.setBigInt64(8 * i, BigInt(number), true);
    if (number < least) least = number;
    if (number > largest) largest = number;
  }
  const definitionLevels = encodeLevels(levels);
  const nulls = rows - count;
  const limits = count > 0 ? limitsOf(type, least, largest) : {};
  const statistics = { ...limits, null_count: BigInt(nulls) };
  const data = new Uint8Array(bytes.buffer);
  return { path, type, encoding: 'PLAIN', rows, values: rows, ...noLevels, nulls, definitionLevels, data, statistics };
}

function limitsOf(type: ParquetType, least: number, largest: number) {
  // A zero may be either of two doubles, and the limits are to hold both.
  if (type === 'DOUBLE') return { min_value: least === 0 ? -0 : least, max_value: largest === 0 ? 0 : largest };
  if (type === 'INT64') return { min_value: BigInt(least), max_value: BigInt(largest) };
  return { min_value: least, max_value: largest };
}

function plainInt64(counts: ArrayLike<number>, count: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8 * count));
  for (let i = 0; i < count; i++) {
    bytes.setUint32(8 * i, counts[i]! % 2 ** 32, true);
    bytes.setUint32(8 * i + 4, Math.floor(counts[i]! / 2 ** 32), true);
  }
  return new Uint8Array(bytes.buffer);
}
