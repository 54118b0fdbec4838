// Reads counts as a ledger keeps them, and packs and unpacks them as Parquet does, with WebAssembly SIMD.
// AssemblyScript, compiled by 'npm run wasm' to src/features/histograms.wasm, which is committed so that only
// developers need the compiler. src/features/delta-pack.ts has the encoding in plain TypeScript.
import { both } from './varints/both';
import { goOn, shortBytes, shortCounts, shorts, WINDOW } from './varints/short';

const BLOCK: i32 = 128;
const MINIBLOCK: i32 = 32;
/** The top bits of bytes. Each byte of a varint has its top bit set, except the last. */
const GO_ON_4: u64 = 0x80808080;
const GO_ON: u64 = (GO_ON_4 << 32) | GO_ON_4;

/** The differences of a block, as int32. */
const deltas: usize = memory.data(512, 16);

let most: u64 = 0;

/** The largest count of the last `unpack`. */
export function largest(): f64 {
  return <f64>most;
}

/**
 * Reads `count` varints below 2^53 from `at` on, and writes them as float64 to `target`. Returns where the varints end.
 * It may read up to 8 bytes behind them.
 */
export function unpack(at: usize, count: usize, target: usize): usize {
  const last = target + (count << 3);
  most = 0;
  let mosts = i16x8.splat(0);
  for (; target < last; target += 8) {
    const eight = v128.load64_zero(at);
    const mask = goOn(eight);
    const short = shortCounts(mask);
    if (short > 0 && target + (WINDOW << 3) <= last) {
      const counts = shorts(eight, mask);
      mosts = i16x8.max_u(mosts, counts);
      // The next counts overwrite the zeros that follow these counts.
      storeFour(target, i32x4.extend_low_i16x8_u(counts));
      storeFour(target + 32, i32x4.extend_high_i16x8_u(counts));
      at += shortBytes(mask);
      target += (short - 1) << 3;
      continue;
    }
    const word = load<u64>(at);
    const ends = ~word & GO_ON;
    // Longer counts mostly have up to four bytes, and two come in a word. Reading both at once halves the steps that
    // wait for the end of the count before.
    const seconds = ends & (ends - 1);
    if (seconds !== 0 && target + 8 < last) {
      const one = word & (ends ^ (ends - 1));
      const other = (word & (seconds ^ (seconds - 1))) >> (ctz(ends) + 1);
      if ((one | other) >> 32 === 0) {
        const two = both(one, other);
        const low = two & 0xffffffff;
        const high = two >> 32;
        most = max(most, max(low, high));
        store<f64>(target, <f64>(<u32>low));
        store<f64>(target, <f64>(<u32>high), 8);
        at += <usize>((ctz(seconds) + 1) >> 3);
        target += 8;
        continue;
      }
    }
    // The bits of the first count: all up to the lowest bit that marks a last byte.
    const own = word & (ends ^ (ends - 1));
    let value = (own & 0x7f) | ((own >> 1) & 0x3f80) | ((own >> 2) & 0x1fc000) | ((own >> 3) & 0xfe00000);
    if ((ends & GO_ON_4) === 0) value |= rest(own);
    at += <usize>((ctz(ends) + 1) >> 3);
    if (value > most) most = value;
    store<f64>(target, <f64>value);
  }
  v128.store(deltas, mosts);
  for (let i: usize = 0; i < 16; i += 2) most = max(most, <u64>load<u16>(deltas + i));
  return at;
}

/** Stores four counts below 2^31 as float64. */
function storeFour(target: usize, four: v128): void {
  v128.store(target, f64x2.convert_low_i32x4_s(four));
  v128.store(target, f64x2.convert_low_i32x4_s(v128.shuffle<i32>(four, four, 2, 3, 2, 3)), 16);
}

/** The bits of a varint's bytes 5 to 8. */
function rest(own: u64): u64 {
  return (
    ((own >> 4) & 0x7f0000000) |
    ((own >> 5) & 0x3f800000000) |
    ((own >> 6) & 0x1fc0000000000) |
    ((own >> 7) & 0xfe000000000000)
  );
}

/** Sum of `count` whole numbers, float64 at `at`. Exact if it is below 2^53. */
export function sum(at: usize, count: usize): f64 {
  let one = f64x2.splat(0);
  let other = f64x2.splat(0);
  const end = at + (count << 3);
  for (; at + 32 <= end; at += 32) {
    one = f64x2.add(one, v128.load(at));
    other = f64x2.add(other, v128.load(at, 16));
  }
  one = f64x2.add(one, other);
  let total = f64x2.extract_lane(one, 0) + f64x2.extract_lane(one, 1);
  for (; at < end; at += 8) total += load<f64>(at);
  return total;
}

/**
 * Packs as `deltaPack` does: `count` whole numbers from 0 to 2^31 - 1, float64 at `values`, are packed to `at`. Returns
 * where the packed bytes end.
 */
export function pack(values: usize, count: i32, at: usize): usize {
  at = putVarint(BLOCK, at);
  at = putVarint(BLOCK / MINIBLOCK, at);
  at = putVarint(count, at);
  let before: i32 = count > 0 ? <i32>load<f64>(values) : 0;
  at = putZigzag(before, at);
  for (let from = 1; from < count; from += BLOCK) {
    const size = min(BLOCK, count - from);
    const first = values + ((<usize>from) << 3);
    let least: i32 = i32.MAX_VALUE;
    if (size === BLOCK) {
      let previous = i32x4.splat(before);
      let leasts = i32x4.splat(i32.MAX_VALUE);
      for (let i = 0; i < BLOCK; i += 4) {
        const place = first + ((<usize>i) << 3);
        const low = i32x4.trunc_sat_f64x2_s_zero(v128.load(place));
        const high = i32x4.trunc_sat_f64x2_s_zero(v128.load(place, 16));
        const four = v128.shuffle<i32>(low, high, 0, 1, 4, 5);
        const delta = i32x4.sub(four, v128.shuffle<i32>(previous, four, 3, 4, 5, 6));
        v128.store(deltas + ((<usize>i) << 2), delta);
        leasts = i32x4.min_s(leasts, delta);
        previous = four;
      }
      before = i32x4.extract_lane(previous, 3);
      least = min(
        min(i32x4.extract_lane(leasts, 0), i32x4.extract_lane(leasts, 1)),
        min(i32x4.extract_lane(leasts, 2), i32x4.extract_lane(leasts, 3)),
      );
    } else {
      for (let i = 0; i < size; i++) {
        const value = <i32>load<f64>(first + ((<usize>i) << 3));
        const delta = value - before;
        store<i32>(deltas + ((<usize>i) << 2), delta);
        least = min(least, delta);
        before = value;
      }
      // The missing values of a short block are packed as zeros.
      for (let i = size; i < BLOCK; i++) store<i32>(deltas + ((<usize>i) << 2), least);
    }
    at = putBlock(least, at);
  }
  return at;
}

/** Where the next varint begins, and where the bytes end. */
let next: usize = 0;
let last: usize = 0;

/**
 * Reverses `pack`: unpacks `count` numbers, at least one, as uint32 to `target`. Their bytes begin at `at`; up to 8
 * bytes behind `end` may be read. Returns where the packed bytes end; 0 if that is behind `end`, if they are packed in
 * another way, or if a number is not from 0 to 2^31 - 1.
 */
export function unpackDeltas(at: usize, end: usize, count: i32, target: usize): usize {
  next = at;
  last = end;
  const areBlocks = takeVarint() === BLOCK && takeVarint() === BLOCK / MINIBLOCK && takeVarint() === count;
  let value = <i32>takeZigzag();
  if (!areBlocks || next > end) return 0;
  store<i32>(target, value);
  let all = value;
  for (let from = 1; from < count; from += BLOCK) {
    const least = <i32>takeZigzag();
    const widths = next;
    next += BLOCK / MINIBLOCK;
    if (next > end) return 0;
    for (let nth = 0; nth < BLOCK / MINIBLOCK; nth++) {
      const width = <usize>load<u8>(widths + nth);
      const data = next;
      next += width * (MINIBLOCK / 8);
      if (width > 32 || next > end) return 0;
      const mask = ((<u64>1) << width) - 1;
      const first = from + nth * MINIBLOCK;
      const values = min(first + MINIBLOCK, count);
      let bit: usize = 0;
      for (let i = first; i < values; i++, bit += width) {
        value += least + <i32>((load<u64>(data + (bit >> 3)) >> (bit & 7)) & mask);
        all |= value;
        store<i32>(target + ((<usize>i) << 2), value);
      }
    }
  }
  return all < 0 ? 0 : next;
}

/** Reads a varint below 2^35. If it is longer, or goes beyond the end, `next` moves behind the end. */
function takeVarint(): i64 {
  let value: u64 = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    if (next >= last) break;
    const byte = load<u8>(next++);
    value |= (<u64>(byte & 0x7f)) << shift;
    if (byte < 0x80) return value;
  }
  next = last + 1;
  return 0;
}

function takeZigzag(): i64 {
  const value = takeVarint();
  return (value >> 1) ^ -(value & 1);
}

function putBlock(least: i32, at: usize): usize {
  at = putZigzag(least, at);
  let widthAt = at;
  at += BLOCK / MINIBLOCK;
  const leasts = i32x4.splat(least);
  for (let first = 0; first < BLOCK; first += MINIBLOCK) {
    const from = deltas + ((<usize>first) << 2);
    let bits = i32x4.splat(0);
    for (let i: usize = 0; i < 4 * MINIBLOCK; i += 16) {
      const above = i32x4.sub(v128.load(from + i), leasts);
      v128.store(from + i, above);
      bits = v128.or(bits, above);
    }
    const any =
      i32x4.extract_lane(bits, 0) |
      i32x4.extract_lane(bits, 1) |
      i32x4.extract_lane(bits, 2) |
      i32x4.extract_lane(bits, 3);
    const width: u64 = 32 - clz(any);
    store<u8>(widthAt++, <u8>width);
    if (width === 0) continue;
    let word: u64 = 0;
    let used: u64 = 0;
    for (let i: usize = 0; i < 4 * MINIBLOCK; i += 4) {
      word |= (<u64>load<u32>(from + i)) << used;
      used += width;
      if (used >= 32) {
        store<u32>(at, <u32>word);
        at += 4;
        word >>= 32;
        used -= 32;
      }
    }
  }
  return at;
}

function putZigzag(value: i32, at: usize): usize {
  return putVarint(value < 0 ? -2 * <i64>value - 1 : 2 * <i64>value, at);
}

function putVarint(value: i64, at: usize): usize {
  let left = value;
  for (; left >= 0x80; left >>= 7) store<u8>(at++, <u8>((left & 0x7f) | 0x80));
  store<u8>(at++, <u8>left);
  return at;
}
