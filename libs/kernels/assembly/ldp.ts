// Local Derivative Pattern in four directions with WebAssembly SIMD: AssemblyScript, compiled by 'npm run wasm' to
// src/ldp/ldp.wasm. That file is committed, so that the compiler is not needed to run it. The steps are the same as in
// ldp.wgsl.

/** Bytes of a table of counts: 256 of u32. */
const TABLE: usize = 1024;
const BANDS: usize = 4;

/**
 * Codes and counts of `rows` rows of `width` pixels. `source` is the pixel `order` left of and above the first one, in
 * order + rows + 1 rows of order + width + order pixels, `stride` bytes apart. Up to 15 bytes beyond a row are read and
 * ignored. `signs` holds three rows of `stride` bytes. A row of codes is four bands of `stride` bytes each, and the
 * next row is `codesBytes` on; 0 if codes are not wanted. Counts are added to `histograms`, a pair of tables of 256 u32
 * for each band: neighbouring codes are often equal, and in a single table each increment would wait for the one
 * before.
 */
export function ldpBand(
  source: usize,
  stride: usize,
  width: usize,
  rows: usize,
  order: usize,
  signs: usize,
  codes: usize,
  codesBytes: usize,
  histograms: usize,
): void {
  let above = signs;
  let centre = signs + stride;
  let below = centre + stride;
  // The pixel left of and above the first pixel of the first row.
  let at = source + (order - 1) * stride + (order - 1);
  signsOfRow(at, stride, width + 2, order, above);
  signsOfRow(at + stride, stride, width + 2, order, centre);
  at += stride + stride;
  for (let y: usize = 0; y < rows; y++) {
    signsOfRow(at + y * stride, stride, width + 2, order, below);
    codesOfRow(above, centre, below, width, codes, stride);
    countRow(codes, stride, width, histograms);
    codes += codesBytes;
    const done = above;
    above = centre;
    centre = below;
    below = done;
  }
}

/** One byte per pixel: bit d says that the derivative in direction d is above 0, bit 4 + d that it is below 0. */
function signsOfRow(at: usize, stride: usize, width: usize, order: usize, signs: usize): void {
  memory.fill(signs, 0, stride);
  addSigns(at, 1, width, order, signs, 0x01, 0x10);
  addSigns(at, 1 - stride, width, order, signs, 0x02, 0x20);
  addSigns(at, 0 - stride, width, order, signs, 0x04, 0x40);
  addSigns(at, 0 - stride - 1, width, order, signs, 0x08, <i8>0x80);
}

/**
 * Sets the bits of the derivatives along `step`: sums of pixels, each times a binomial coefficient of alternating sign.
 */
function addSigns(at: usize, step: usize, width: usize, order: usize, signs: usize, above: i8, below: i8): void {
  const last = <i16>(order - 1);
  const c1 = i16x8.splat(-last);
  const c2 = i16x8.splat((last * (last - 1)) / 2);
  const c3 = i16x8.splat((-last * (last - 1) * (last - 2)) / 6);
  const c4 = i16x8.splat((last * (last - 1) * (last - 2) * (last - 3)) / 24);
  const c5 = i16x8.splat((-last * (last - 1) * (last - 2) * (last - 3) * (last - 4)) / 120);
  const zero = i8x16.splat(0);
  const isAbove = i8x16.splat(above);
  const isBelow = i8x16.splat(below);
  for (let x: usize = 0; x < width; x += 16) {
    let pixel = at + x;
    let low = v128.load8x8_u(pixel);
    let high = v128.load8x8_u(pixel + 8);
    pixel += step;
    low = i16x8.add(low, times(pixel, c1));
    high = i16x8.add(high, times(pixel + 8, c1));
    if (order > 2) {
      pixel += step;
      low = i16x8.add(low, times(pixel, c2));
      high = i16x8.add(high, times(pixel + 8, c2));
    }
    if (order > 3) {
      pixel += step;
      low = i16x8.add(low, times(pixel, c3));
      high = i16x8.add(high, times(pixel + 8, c3));
    }
    if (order > 4) {
      pixel += step;
      low = i16x8.add(low, times(pixel, c4));
      high = i16x8.add(high, times(pixel + 8, c4));
    }
    if (order > 5) {
      pixel += step;
      low = i16x8.add(low, times(pixel, c5));
      high = i16x8.add(high, times(pixel + 8, c5));
    }
    // Saturating to bytes keeps the signs.
    const derivatives = i8x16.narrow_i16x8_s(low, high);
    const bits = v128.or(
      v128.and(i8x16.gt_s(derivatives, zero), isAbove),
      v128.and(i8x16.lt_s(derivatives, zero), isBelow),
    );
    v128.store(signs + x, v128.or(v128.load(signs + x), bits));
  }
}

function times(pixels: usize, coefficient: v128): v128 {
  return i16x8.mul(v128.load8x8_u(pixels), coefficient);
}

/** Codes of a row in four bands, from signs that begin one pixel left of it. */
function codesOfRow(above: usize, centre: usize, below: usize, width: usize, codes: usize, stride: usize): void {
  const highHalf = i8x16.splat(<i8>0xf0);
  const pairs = i8x16.splat(0x33);
  const odds = i8x16.splat(0x55);
  for (let x: usize = 0; x < width; x += 16) {
    const c = v128.load(centre + x + 1);
    // Which signs each pair of opposite neighbours has in common with the pixel: a half byte each, one bit per
    // direction.
    const nwSe = v128.bitselect(inHigh(c, above + x), inLow(c, below + x + 2), highHalf);
    const nS = v128.bitselect(inHigh(c, above + x + 1), inLow(c, below + x + 1), highHalf);
    const neSw = v128.bitselect(inHigh(c, above + x + 2), inLow(c, below + x), highHalf);
    const eW = v128.bitselect(inHigh(c, centre + x + 2), inLow(c, centre + x), highHalf);
    // Transposed into one byte per direction, one bit per neighbour. Bits that a shift moves across a byte are not
    // selected.
    const nFirst = v128.bitselect(eW, i16x8.shl(nS, 2), pairs);
    const nLast = v128.bitselect(i16x8.shr_u(eW, 2), nS, pairs);
    const nwFirst = v128.bitselect(neSw, i16x8.shl(nwSe, 2), pairs);
    const nwLast = v128.bitselect(i16x8.shr_u(neSw, 2), nwSe, pairs);
    const out = codes + x;
    v128.store(out, v128.not(v128.bitselect(nFirst, i16x8.shl(nwFirst, 1), odds)));
    v128.store(out + stride, v128.not(v128.bitselect(i16x8.shr_u(nFirst, 1), nwFirst, odds)));
    v128.store(out + 2 * stride, v128.not(v128.bitselect(nLast, i16x8.shl(nwLast, 1), odds)));
    v128.store(out + 3 * stride, v128.not(v128.bitselect(i16x8.shr_u(nLast, 1), nwLast, odds)));
  }
}

/** The directions in which both derivatives have the same sign and are not 0, in the high half of each byte. */
function inHigh(c: v128, neighbours: usize): v128 {
  const both = v128.and(c, v128.load(neighbours));
  return v128.or(both, i16x8.shl(both, 4));
}

/** The same in the low half. */
function inLow(c: v128, neighbours: usize): v128 {
  const both = v128.and(c, v128.load(neighbours));
  return v128.or(both, i16x8.shr_u(both, 4));
}

/** Counts the four bands of a row, in turns. */
function countRow(codes: usize, stride: usize, width: usize, histograms: usize): void {
  let x: usize = 0;
  for (; x + 8 <= width; x += 8) {
    let first = load<u64>(codes + x);
    let second = load<u64>(codes + x + stride);
    let third = load<u64>(codes + x + 2 * stride);
    let fourth = load<u64>(codes + x + 3 * stride);
    for (let i = 0; i < 4; i++) {
      count(<usize>(first & 0xff), histograms);
      count(<usize>(second & 0xff), histograms + 2 * TABLE);
      count(<usize>(third & 0xff), histograms + 4 * TABLE);
      count(<usize>(fourth & 0xff), histograms + 6 * TABLE);
      count(<usize>((first >> 8) & 0xff), histograms + TABLE);
      count(<usize>((second >> 8) & 0xff), histograms + 3 * TABLE);
      count(<usize>((third >> 8) & 0xff), histograms + 5 * TABLE);
      count(<usize>((fourth >> 8) & 0xff), histograms + 7 * TABLE);
      first >>= 16;
      second >>= 16;
      third >>= 16;
      fourth >>= 16;
    }
  }
  for (; x < width; x++) {
    for (let band: usize = 0; band < BANDS; band++) {
      count(<usize>load<u8>(codes + x + band * stride), histograms + 2 * band * TABLE);
    }
  }
}

function count(code: usize, table: usize): void {
  const at = table + (code << 2);
  store<u32>(at, load<u32>(at) + 1);
}
