// How near the vectors of a block are to a query, with WebAssembly SIMD: AssemblyScript, compiled by 'npm run wasm' to
// src/scan/scan.wasm, which is committed so that nobody needs the compiler to run it.
//
// A block has `count` vectors of `length` counts, a multiple of 16, one after another; `width` is the bytes of a count:
// 1, 2 or 4. For each vector a float64 goes to `out`. Sums are made in float32 over 64 counts, and these sums are added
// in float64, so that errors do not grow with the length: src/scan/gpu/gpu-bound.ts has their bound.

/** Counts that are summed up in float32. */
const CHUNK: usize = 64;

/** The integers sum(min(count, query)); each must be below 2^32. The counts of the query have the block's width. */
export function common(rows: usize, count: usize, length: usize, width: usize, query: usize, out: usize): void {
  if (width === 1) common8(rows, count, length, query, out);
  else if (width === 2) common16(rows, count, length, query, out);
  else common32(rows, count, length, query, out);
}

function common8(rows: usize, count: usize, length: usize, query: usize, out: usize): void {
  for (let row: usize = 0; row < count; row++) {
    let sums = i32x4.splat(0);
    for (let at: usize = 0; at < length; at += 16) {
      const least = i8x16.min_u(v128.load(rows + at), v128.load(query + at));
      sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(least)));
    }
    store<f64>(out + (row << 3), <f64>total(sums));
    rows += length;
  }
}

function common16(rows: usize, count: usize, length: usize, query: usize, out: usize): void {
  const bytes = length << 1;
  for (let row: usize = 0; row < count; row++) {
    let sums = i32x4.splat(0);
    let others = i32x4.splat(0);
    for (let at: usize = 0; at < bytes; at += 32) {
      const least = i16x8.min_u(v128.load(rows + at), v128.load(query + at));
      const next = i16x8.min_u(v128.load(rows + at, 16), v128.load(query + at, 16));
      sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(least));
      others = i32x4.add(others, i32x4.extadd_pairwise_i16x8_u(next));
    }
    store<f64>(out + (row << 3), <f64>total(i32x4.add(sums, others)));
    rows += bytes;
  }
}

function common32(rows: usize, count: usize, length: usize, query: usize, out: usize): void {
  const bytes = length << 2;
  for (let row: usize = 0; row < count; row++) {
    let sums = i32x4.splat(0);
    let others = i32x4.splat(0);
    for (let at: usize = 0; at < bytes; at += 32) {
      sums = i32x4.add(sums, i32x4.min_u(v128.load(rows + at), v128.load(query + at)));
      others = i32x4.add(others, i32x4.min_u(v128.load(rows + at, 16), v128.load(query + at, 16)));
    }
    store<f64>(out + (row << 3), <f64>total(i32x4.add(sums, others)));
    rows += bytes;
  }
}

function total(sums: v128): u32 {
  return (
    i32x4.extract_lane(sums, 0) +
    i32x4.extract_lane(sums, 1) +
    i32x4.extract_lane(sums, 2) +
    i32x4.extract_lane(sums, 3)
  );
}

/** -1/2 sum(|count * scale - query|); `query` has a float32 for each count, `scales` one for each vector. */
export function absolute(
  rows: usize,
  count: usize,
  length: usize,
  width: usize,
  query: usize,
  scales: usize,
  out: usize,
): void {
  if (width === 1) absoluteOf<u8>(rows, count, length, query, scales, out);
  else if (width === 2) absoluteOf<u16>(rows, count, length, query, scales, out);
  else absoluteOf<u32>(rows, count, length, query, scales, out);
}

function absoluteOf<T>(rows: usize, count: usize, length: usize, query: usize, scales: usize, out: usize): void {
  for (let row: usize = 0; row < count; row++) {
    const scale = f32x4.splat(load<f32>(scales + (row << 2)));
    let sum: f64 = 0;
    for (let from: usize = 0; from < length; from += CHUNK) {
      const to = min(from + CHUNK, length);
      let sums = f32x4.splat(0);
      for (let i = from; i < to; i += 4) {
        const difference = f32x4.sub(f32x4.mul(four<T>(rows, i), scale), v128.load(query + (i << 2)));
        sums = f32x4.add(sums, f32x4.abs(difference));
      }
      sum += added(sums);
    }
    store<f64>(out + (row << 3), -0.5 * sum);
    rows += length * sizeof<T>();
  }
}

/** -1/2 sum((count * scale - query)^2 / (count * scale + query)), without bins that are empty in both. */
export function chiSquare(
  rows: usize,
  count: usize,
  length: usize,
  width: usize,
  query: usize,
  scales: usize,
  out: usize,
): void {
  if (width === 1) chiSquareOf<u8>(rows, count, length, query, scales, out);
  else if (width === 2) chiSquareOf<u16>(rows, count, length, query, scales, out);
  else chiSquareOf<u32>(rows, count, length, query, scales, out);
}

function chiSquareOf<T>(rows: usize, count: usize, length: usize, query: usize, scales: usize, out: usize): void {
  // Less than any share of a bin, and large enough to divide by.
  const least = f32x4.splat(1e-30);
  for (let row: usize = 0; row < count; row++) {
    const scale = f32x4.splat(load<f32>(scales + (row << 2)));
    let sum: f64 = 0;
    for (let from: usize = 0; from < length; from += CHUNK) {
      const to = min(from + CHUNK, length);
      let sums = f32x4.splat(0);
      for (let i = from; i < to; i += 4) {
        const share = f32x4.mul(four<T>(rows, i), scale);
        const wanted = v128.load(query + (i << 2));
        const difference = f32x4.sub(share, wanted);
        const both = f32x4.pmax(f32x4.add(share, wanted), least);
        sums = f32x4.add(sums, f32x4.div(f32x4.mul(difference, difference), both));
      }
      sum += added(sums);
    }
    store<f64>(out + (row << 3), -0.5 * sum);
    rows += length * sizeof<T>();
  }
}

/** -1/2 sum((sqrt(count) * scale - query)^2). */
export function roots(
  rows: usize,
  count: usize,
  length: usize,
  width: usize,
  query: usize,
  scales: usize,
  out: usize,
): void {
  if (width === 1) rootsOf<u8>(rows, count, length, query, scales, out);
  else if (width === 2) rootsOf<u16>(rows, count, length, query, scales, out);
  else rootsOf<u32>(rows, count, length, query, scales, out);
}

function rootsOf<T>(rows: usize, count: usize, length: usize, query: usize, scales: usize, out: usize): void {
  for (let row: usize = 0; row < count; row++) {
    const scale = f32x4.splat(load<f32>(scales + (row << 2)));
    let sum: f64 = 0;
    for (let from: usize = 0; from < length; from += CHUNK) {
      const to = min(from + CHUNK, length);
      let sums = f32x4.splat(0);
      for (let i = from; i < to; i += 4) {
        const root = f32x4.mul(f32x4.sqrt(four<T>(rows, i)), scale);
        const difference = f32x4.sub(root, v128.load(query + (i << 2)));
        sums = f32x4.add(sums, f32x4.mul(difference, difference));
      }
      sum += added(sums);
    }
    store<f64>(out + (row << 3), -0.5 * sum);
    rows += length * sizeof<T>();
  }
}

/** -1/2 sum((count / sqrt(sum(count^2)) - query)^2); NaN if the vector is 0. */
export function directions(rows: usize, count: usize, length: usize, width: usize, query: usize, out: usize): void {
  if (width === 1) directionsOf<u8>(rows, count, length, query, out);
  else if (width === 2) directionsOf<u16>(rows, count, length, query, out);
  else directionsOf<u32>(rows, count, length, query, out);
}

function directionsOf<T>(rows: usize, count: usize, length: usize, query: usize, out: usize): void {
  for (let row: usize = 0; row < count; row++) {
    const scale = f32x4.splat(<f32>(1 / sqrt(squareOf<T>(rows, length))));
    let sum: f64 = 0;
    for (let from: usize = 0; from < length; from += CHUNK) {
      const to = min(from + CHUNK, length);
      let sums = f32x4.splat(0);
      for (let i = from; i < to; i += 4) {
        const difference = f32x4.sub(f32x4.mul(four<T>(rows, i), scale), v128.load(query + (i << 2)));
        sums = f32x4.add(sums, f32x4.mul(difference, difference));
      }
      sum += added(sums);
    }
    store<f64>(out + (row << 3), -0.5 * sum);
    rows += length * sizeof<T>();
  }
}

/** sum(count^2) of one vector. */
function squareOf<T>(row: usize, length: usize): f64 {
  let square: f64 = 0;
  for (let from: usize = 0; from < length; from += CHUNK) {
    const to = min(from + CHUNK, length);
    let squares = f32x4.splat(0);
    for (let i = from; i < to; i += 4) {
      const counts = four<T>(row, i);
      squares = f32x4.add(squares, f32x4.mul(counts, counts));
    }
    square += added(squares);
  }
  return square;
}

/** Four counts from the i-th on. */
function four<T>(rows: usize, i: usize): v128 {
  if (sizeof<T>() === 1) {
    return f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(rows + i))));
  }
  if (sizeof<T>() === 2) return f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(v128.load64_zero(rows + (i << 1))));
  return f32x4.convert_i32x4_u(v128.load(rows + (i << 2)));
}

function added(sums: v128): f64 {
  return (
    <f64>f32x4.extract_lane(sums, 0) +
    <f64>f32x4.extract_lane(sums, 1) +
    (<f64>f32x4.extract_lane(sums, 2) + <f64>f32x4.extract_lane(sums, 3))
  );
}
