// Rows of a video's luma and chroma to red, green and blue, with WebAssembly SIMD: AssemblyScript, compiled by 'npm run
// wasm' to src/video/process/colour.wasm, which is committed so that nobody needs the compiler to run it.
// src/video/process/colour-definition.ts states the arithmetic.
//
// Each row of chroma is first mixed with its neighbour row into samples of 16 bits. The first and the last sample are
// repeated at the ends of the row. Up to 31 bytes behind the last sample of a row, and two before the first mixed one,
// are read and written as well.

/** 3 near + far, or 4 near if both are the same row. */
export function mix8(near: usize, far: usize, width: usize, to: usize): void {
  for (let x: usize = 0; x < width; x += 16) {
    const a = v128.load(near + x);
    const b = v128.load(far + x);
    v128.store(to + 2 * x, mixed(i16x8.extend_low_i8x16_u(a), i16x8.extend_low_i8x16_u(b)));
    v128.store(to + 2 * x, mixed(i16x8.extend_high_i8x16_u(a), i16x8.extend_high_i8x16_u(b)), 16);
  }
  repeatEdges(to, width);
}

/** As mix8, for samples of 9 to 12 bits. */
export function mix16(near: usize, far: usize, width: usize, to: usize): void {
  for (let x: usize = 0; x < 2 * width; x += 16) v128.store(to + x, mixed(v128.load(near + x), v128.load(far + x)));
  repeatEdges(to, width);
}

/** As mix8, for rows in which the bytes of two planes take turns; each plane goes to a row of its own. */
export function mixPairs8(near: usize, far: usize, width: usize, first: usize, second: usize): void {
  const low = i16x8.splat(255);
  for (let x: usize = 0; x < 2 * width; x += 16) {
    const a = v128.load(near + x);
    const b = v128.load(far + x);
    v128.store(first + x, mixed(v128.and(a, low), v128.and(b, low)));
    v128.store(second + x, mixed(i16x8.shr_u(a, 8), i16x8.shr_u(b, 8)));
  }
  repeatEdges(first, width);
  repeatEdges(second, width);
}

/** As mixPairs8, for samples of 10 or 12 bits that lie above `shift` unused bits of a 16-bit word. */
export function mixPairs16(near: usize, far: usize, width: usize, first: usize, second: usize, shift: i32): void {
  const low = i32x4.splat(0xffff);
  for (let x: usize = 0; x < 2 * width; x += 8) {
    const a = i16x8.shr_u(v128.load(near + 2 * x), shift);
    const b = i16x8.shr_u(v128.load(far + 2 * x), shift);
    const both = mixed(a, b);
    const even = v128.and(both, low);
    const odd = i32x4.shr_u(both, 16);
    v128.store(first + x, i16x8.narrow_i32x4_u(even, even));
    v128.store(second + x, i16x8.narrow_i32x4_u(odd, odd));
  }
  repeatEdges(first, width);
  repeatEdges(second, width);
}

function mixed(near: v128, far: v128): v128 {
  return i16x8.add(i16x8.add(near, far), i16x8.shl(near, 1));
}

function repeatEdges(row: usize, width: usize): void {
  store<u16>(row - 2, load<u16>(row));
  store<u16>(row + 2 * width, load<u16>(row + 2 * width - 2));
}

/**
 * Doubles a row. Each sample gives 3 times itself plus the one before, then 3 times itself plus the one behind, each
 * less `middle`.
 */
export function widen(from: usize, width: usize, middle: i32, to: usize): void {
  const zero = i16x8.splat(<i16>middle);
  for (let x: usize = 0; x < 2 * width; x += 16) {
    const own = v128.load(from + x);
    const three = i16x8.sub(i16x8.add(own, i16x8.shl(own, 1)), zero);
    const even = i16x8.add(three, v128.load(from + x - 2));
    const odd = i16x8.add(three, v128.load(from + x + 2));
    v128.store(to + 2 * x, v128.shuffle<i16>(even, odd, 0, 8, 1, 9, 2, 10, 3, 11));
    v128.store(to + 2 * x, v128.shuffle<i16>(even, odd, 4, 12, 5, 13, 6, 14, 7, 15), 16);
  }
}

/** 4 times each sample, less `middle`. */
export function keep(from: usize, width: usize, middle: i32, to: usize): void {
  const zero = i16x8.splat(<i16>middle);
  for (let x: usize = 0; x < 2 * width; x += 16) v128.store(to + x, i16x8.sub(i16x8.shl(v128.load(from + x), 2), zero));
}

/** Luma of 8 bits, less `black`, and chroma of 12 bits around 0, to colours of 8 bits. */
export function rgb8(
  luma: usize,
  u: usize,
  v: usize,
  width: usize,
  black: i32,
  ofLuma: i32,
  redV: i32,
  greenU: i32,
  greenV: i32,
  blueU: i32,
  red: usize,
  green: usize,
  blue: usize,
): void {
  const dark = i16x8.splat(<i16>black);
  const toRed = pair(ofLuma, redV);
  const toGreen = pair(ofLuma, greenV);
  const toBlue = pair(ofLuma, blueU);
  // This 16, times the 4096 of `unit`, is the half that is added before the shift.
  const toGreenU = pair(greenU, 16);
  const unit = i16x8.splat(4096);
  const half = i32x4.splat(65536);
  for (let x: usize = 0; x < width; x += 8) {
    const y = i16x8.shl(i16x8.sub(i16x8.extend_low_i8x16_u(v128.load64_zero(luma + x)), dark), 4);
    const uu = v128.load(u + 2 * x);
    const vv = v128.load(v + 2 * x);
    const yvLow = lowPairs(y, vv);
    const yvHigh = highPairs(y, vv);
    put8(red + x, i32x4.add(i32x4.dot_i16x8_s(yvLow, toRed), half), i32x4.add(i32x4.dot_i16x8_s(yvHigh, toRed), half));
    put8(
      green + x,
      i32x4.add(i32x4.dot_i16x8_s(yvLow, toGreen), i32x4.dot_i16x8_s(lowPairs(uu, unit), toGreenU)),
      i32x4.add(i32x4.dot_i16x8_s(yvHigh, toGreen), i32x4.dot_i16x8_s(highPairs(uu, unit), toGreenU)),
    );
    put8(
      blue + x,
      i32x4.add(i32x4.dot_i16x8_s(lowPairs(y, uu), toBlue), half),
      i32x4.add(i32x4.dot_i16x8_s(highPairs(y, uu), toBlue), half),
    );
  }
}

function pair(first: i32, second: i32): v128 {
  return i32x4.splat((first & 0xffff) | (second << 16));
}

function lowPairs(a: v128, b: v128): v128 {
  return v128.shuffle<i16>(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

function highPairs(a: v128, b: v128): v128 {
  return v128.shuffle<i16>(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

function put8(to: usize, low: v128, high: v128): void {
  const wide = i16x8.narrow_i32x4_s(i32x4.shr_s(low, 17), i32x4.shr_s(high, 17));
  v128.store64_lane(to, i8x16.narrow_i16x8_u(wide, wide), 0);
}

/** As rgb8, for samples of 9 to 12 bits. Luma lies above `shift` unused bits of a 16-bit word. */
export function rgb16(
  luma: usize,
  u: usize,
  v: usize,
  width: usize,
  black: i32,
  ofLuma: i32,
  redV: i32,
  greenU: i32,
  greenV: i32,
  blueU: i32,
  red: usize,
  green: usize,
  blue: usize,
  bits: i32,
  shift: i32,
): void {
  const dark = i32x4.splat(black);
  const factor = i32x4.splat(ofLuma << 4);
  const half = i32x4.splat(65536);
  const most = i32x4.splat((1 << bits) - 1);
  for (let x: usize = 0; x < 2 * width; x += 8) {
    const y = i32x4.extend_low_i16x8_u(i16x8.shr_u(v128.load64_zero(luma + x), shift));
    const base = i32x4.add(i32x4.mul(i32x4.sub(y, dark), factor), half);
    const uu = i32x4.extend_low_i16x8_s(v128.load64_zero(u + x));
    const vv = i32x4.extend_low_i16x8_s(v128.load64_zero(v + x));
    const ofU = i32x4.mul(uu, i32x4.splat(greenU));
    const ofV = i32x4.mul(vv, i32x4.splat(greenV));
    put16(red + x, i32x4.add(base, i32x4.mul(vv, i32x4.splat(redV))), most);
    put16(green + x, i32x4.add(base, i32x4.add(ofU, ofV)), most);
    put16(blue + x, i32x4.add(base, i32x4.mul(uu, i32x4.splat(blueU))), most);
  }
}

function put16(to: usize, sum: v128, most: v128): void {
  const value = i32x4.min_s(most, i32x4.max_s(i32x4.splat(0), i32x4.shr_s(sum, 17)));
  v128.store64_lane(to, i16x8.narrow_i32x4_u(value, value), 0);
}
