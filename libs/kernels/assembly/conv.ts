// Convolution with WebAssembly SIMD: AssemblyScript, compiled by 'npm run wasm' to src/conv/conv.wasm. That file is
// committed, so that the compiler is not needed to run it.
//
// Rows are `stride` bytes apart, addresses are bytes, counts are samples. Every function may read and write up to 15
// samples beyond a count. Taps are added in the same order for every pixel, wherever it lies.

const BINS: usize = 256;

/** Bytes to float32. */
export function widen32(source: usize, target: usize, count: usize): void {
  for (let i: usize = 0; i < count; i += 16) {
    const bytes = v128.load(source + i);
    const low = i16x8.extend_low_i8x16_u(bytes);
    const high = i16x8.extend_high_i8x16_u(bytes);
    const to = target + (i << 2);
    v128.store(to, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(low)));
    v128.store(to, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(low)), 16);
    v128.store(to, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(high)), 32);
    v128.store(to, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(high)), 48);
  }
}

/** Pixels of 16 bits to float32. */
export function widenDeep32(source: usize, target: usize, count: usize): void {
  for (let i: usize = 0; i < count; i += 8) {
    const shorts = v128.load(source + (i << 1));
    const to = target + (i << 2);
    v128.store(to, f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(shorts)));
    v128.store(to, f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(shorts)), 16);
  }
}

/** Pixels of 16 bits to float64. */
export function widenDeep64(source: usize, target: usize, count: usize): void {
  for (let i: usize = 0; i < count; i += 4) {
    const four = i32x4.extend_low_i16x8_u(v128.load64_zero(source + (i << 1)));
    const to = target + (i << 3);
    v128.store(to, f64x2.convert_low_i32x4_s(four));
    v128.store(
      to,
      f64x2.convert_low_i32x4_s(i8x16.shuffle(four, four, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)),
      16,
    );
  }
}

/** Bytes to float64. */
export function widen64(source: usize, target: usize, count: usize): void {
  for (let i: usize = 0; i < count; i += 4) {
    const four = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(source + i)));
    const to = target + (i << 3);
    v128.store(to, f64x2.convert_low_i32x4_s(four));
    v128.store(
      to,
      f64x2.convert_low_i32x4_s(i8x16.shuffle(four, four, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)),
      16,
    );
  }
}

/**
 * For each of `rows` rows of `width` pixels: the sum of tapRows x tapColumns float32 taps times float32 pixels, times
 * `scale`. `source` is the pixel under the first tap.
 */
export function convolve32(
  source: usize,
  stride: usize,
  taps: usize,
  tapRows: usize,
  tapColumns: usize,
  scale: f32,
  width: usize,
  rows: usize,
  out: usize,
  outStride: usize,
): void {
  const factor = f32x4.splat(scale);
  for (let y: usize = 0; y < rows; y++) {
    for (let x: usize = 0; x < width; x += 16) {
      let a = f32x4.splat(0);
      let b = f32x4.splat(0);
      let c = f32x4.splat(0);
      let d = f32x4.splat(0);
      let tap = taps;
      for (let r: usize = 0; r < tapRows; r++) {
        let at = source + (y + r) * stride + (x << 2);
        const end = at + (tapColumns << 2);
        for (; at < end; at += 4) {
          const weight = v128.load32_splat(tap);
          tap += 4;
          a = f32x4.add(a, f32x4.mul(weight, v128.load(at)));
          b = f32x4.add(b, f32x4.mul(weight, v128.load(at, 16)));
          c = f32x4.add(c, f32x4.mul(weight, v128.load(at, 32)));
          d = f32x4.add(d, f32x4.mul(weight, v128.load(at, 48)));
        }
      }
      const to = out + y * outStride + (x << 2);
      v128.store(to, f32x4.mul(a, factor));
      v128.store(to, f32x4.mul(b, factor), 16);
      v128.store(to, f32x4.mul(c, factor), 32);
      v128.store(to, f32x4.mul(d, factor), 48);
    }
  }
}

/**
 * As convolve32, for a square of float64 taps and float64 pixels; results are float32. `rounds`: results are rounded to
 * the nearest integer, halves to the even one, and limited to the range of i16.
 */
export function convolve64(
  source: usize,
  stride: usize,
  taps: usize,
  side: usize,
  rounds: bool,
  width: usize,
  rows: usize,
  out: usize,
  outStride: usize,
): void {
  for (let y: usize = 0; y < rows; y++) {
    for (let x: usize = 0; x < width; x += 8) {
      let a = f64x2.splat(0);
      let b = f64x2.splat(0);
      let c = f64x2.splat(0);
      let d = f64x2.splat(0);
      let tap = taps;
      for (let r: usize = 0; r < side; r++) {
        let at = source + (y + r) * stride + (x << 3);
        const end = at + (side << 3);
        for (; at < end; at += 8) {
          const weight = v128.load64_splat(tap);
          tap += 8;
          a = f64x2.add(a, f64x2.mul(weight, v128.load(at)));
          b = f64x2.add(b, f64x2.mul(weight, v128.load(at, 16)));
          c = f64x2.add(c, f64x2.mul(weight, v128.load(at, 32)));
          d = f64x2.add(d, f64x2.mul(weight, v128.load(at, 48)));
        }
      }
      if (rounds) {
        a = short(a);
        b = short(b);
        c = short(c);
        d = short(d);
      }
      const to = out + y * outStride + (x << 2);
      v128.store(to, narrow(a, b));
      v128.store(to, narrow(c, d), 16);
    }
  }
}

function short(value: v128): v128 {
  return f64x2.max(f64x2.min(f64x2.nearest(value), f64x2.splat(32767)), f64x2.splat(-32768));
}

function narrow(low: v128, high: v128): v128 {
  const a = f32x4.demote_f64x2_zero(low);
  const b = f32x4.demote_f64x2_zero(high);
  return i8x16.shuffle(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}

/** Replaces each `first` value by the square root of the sum of the squares of both values. */
export function magnitude(first: usize, second: usize, count: usize): void {
  for (let end = first + (count << 2); first < end; first += 16, second += 16) {
    const x = v128.load(first);
    const y = v128.load(second);
    v128.store(first, f32x4.sqrt(f32x4.add(f32x4.mul(x, x), f32x4.mul(y, y))));
  }
}

/** float32 to u8, rounded and saturated. */
export function toBytes(values: usize, out: usize, count: usize): void {
  for (let i: usize = 0; i < count; i += 16) {
    const at = values + (i << 2);
    v128.store(out + i, i8x16.narrow_i16x8_u(shorts(at), shorts(at + 32)));
  }
}

/** float32 to i16, rounded and saturated. */
export function toShorts(values: usize, out: usize, count: usize): void {
  for (let i: usize = 0; i < count; i += 8) v128.store(out + (i << 1), shorts(values + (i << 2)));
}

function shorts(at: usize): v128 {
  return i16x8.narrow_i32x4_s(nearest(v128.load(at)), nearest(v128.load(at, 16)));
}

function nearest(values: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(values));
}

/** Adds counts of bytes to four tables of 256 u32: in a single table, equal neighbours would wait for each other. */
export function countBytes(bytes: usize, count: usize, tables: usize): void {
  let i: usize = 0;
  for (; i + 4 <= count; i += 4) {
    const four = load<u32>(bytes + i);
    increment(tables, <usize>(four & 0xff));
    increment(tables + 4 * BINS, <usize>((four >> 8) & 0xff));
    increment(tables + 8 * BINS, <usize>((four >> 16) & 0xff));
    increment(tables + 12 * BINS, <usize>(four >> 24));
  }
  for (; i < count; i++) increment(tables, <usize>load<u8>(bytes + i));
}

/**
 * Adds counts of float32 values to four tables of `bins` u32. A value's bin is floor(value * scale) - first, limited to
 * the existing bins. All numbers are small enough for a float32 to hold exactly.
 */
export function countReals(values: usize, count: usize, scale: f32, first: f32, bins: u32, tables: usize): void {
  let i: usize = 0;
  for (; i + 4 <= count; i += 4) {
    countFour(binsOf(v128.load(values + (i << 2)), scale, first, bins), bins, tables);
  }
  if (i < count) countSome(binsOf(v128.load(values + (i << 2)), scale, first, bins), count - i, tables);
}

/**
 * The same for i16 values; `scale` need not be a power of two: a half is added, so no value is near the end of a bin.
 */
export function countShorts(values: usize, count: usize, scale: f32, first: f32, bins: u32, tables: usize): void {
  let i: usize = 0;
  for (; i + 4 <= count; i += 4) {
    countFour(binsOf(middles(values + (i << 1)), scale, first, bins), bins, tables);
  }
  if (i < count) countSome(binsOf(middles(values + (i << 1)), scale, first, bins), count - i, tables);
}

function middles(shorts: usize): v128 {
  const four = f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(v128.load64_zero(shorts)));
  return f32x4.add(four, f32x4.splat(0.5));
}

function binsOf(values: v128, scale: f32, first: f32, bins: u32): v128 {
  const places = f32x4.sub(f32x4.floor(f32x4.mul(values, f32x4.splat(scale))), f32x4.splat(first));
  // pmin and pmax are one instruction each, whereas min and max also handle NaN: 2.4 ms instead of 3.2 for a frame of
  // 1920 x 1080 (measured).
  const held = f32x4.pmin(f32x4.pmax(places, f32x4.splat(0)), f32x4.splat(<f32>(bins - 1)));
  return i32x4.trunc_sat_f32x4_s(held);
}

function countFour(places: v128, bins: u32, tables: usize): void {
  const bytes: usize = (<usize>bins) << 2;
  increment(tables, <usize>i32x4.extract_lane(places, 0));
  increment(tables + bytes, <usize>i32x4.extract_lane(places, 1));
  increment(tables + 2 * bytes, <usize>i32x4.extract_lane(places, 2));
  increment(tables + 3 * bytes, <usize>i32x4.extract_lane(places, 3));
}

/** Counts the first one, two or three of four places. */
function countSome(places: v128, count: usize, tables: usize): void {
  increment(tables, <usize>i32x4.extract_lane(places, 0));
  if (count > 1) increment(tables, <usize>i32x4.extract_lane(places, 1));
  if (count > 2) increment(tables, <usize>i32x4.extract_lane(places, 2));
}

function increment(table: usize, bin: usize): void {
  const at = table + (bin << 2);
  store<u32>(at, load<u32>(at) + 1);
}
