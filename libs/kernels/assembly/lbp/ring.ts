// Local Binary Pattern of any ring with WebAssembly SIMD, two pixels a vector. A neighbour between pixels is a sum of
// weights times pixels, in doubles. Both are integers with sums below 2^53, so every comparison is exact.

/** The weight of a whole pixel: the square of onePixel of src/lbp/ring.ts. */
const UNIT: f64 = 10_000_000_000;

/** Bytes of a neighbour in the table: four weights, four distances in bytes, and how many of them count, 1 or 4. */
const NEIGHBOUR: usize = 56;

/** Converts `count` 8-bit pixels, a multiple of 4, at `source` to doubles. */
export function widenU8(source: usize, count: usize, target: usize): void {
  for (let i: usize = 0; i < count; i += 4) {
    storeFour(target + 8 * i, i16x8.extend_low_i8x16_u(v128.load32_zero(source + i)));
  }
}

/** Converts `count` 16-bit pixels, a multiple of 4, at `source` to doubles. */
export function widenU16(source: usize, count: usize, target: usize): void {
  for (let i: usize = 0; i < count; i += 4) storeFour(target + 8 * i, v128.load64_zero(source + 2 * i));
}

function storeFour(target: usize, pixels: v128): void {
  const four = i32x4.extend_low_i16x8_u(pixels);
  v128.store(target, f64x2.convert_low_i32x4_u(four));
  v128.store(target, f64x2.convert_low_i32x4_u(i32x4.shuffle(four, four, 2, 3, 0, 1)), 16);
}

/**
 * Codes of `rows` rows of `width` pixels, as u32, in rows of `codesStride` bytes; up to three codes beyond `width` are
 * overwritten. `source` is the first pixel, in rows of doubles that are `stride` bytes apart. All neighbours of all
 * pixels, and of up to three pixels beyond each row, must be there. `ring` is the table of the `points` neighbours, bit
 * 0 first.
 */
export function ringBand(
  source: usize,
  stride: usize,
  width: usize,
  rows: usize,
  ring: usize,
  points: usize,
  isStrict: bool,
  codes: usize,
  codesStride: usize,
): void {
  for (let y: usize = 0; y < rows; y++) {
    const row = source + y * stride;
    const out = codes + y * codesStride;
    memory.fill(out, 0, (width << 2) + 12);
    for (let i: usize = 0; i < points; i++) {
      const neighbour = ring + i * NEIGHBOUR;
      if (load<u32>(neighbour, 48) === 1) pixelRow(row, width, neighbour, i, isStrict, out);
      else betweenRow(row, width, neighbour, i, isStrict, out);
    }
  }
}

/** Sets bit `bit` of the codes of a row for a neighbour that is a pixel. */
function pixelRow(row: usize, width: usize, neighbour: usize, bit: usize, isStrict: bool, codes: usize): void {
  const to = <isize>load<i32>(neighbour, 32);
  const mask = i32x4.splat(1 << (<i32>bit));
  for (let x: usize = 0; x < width; x += 4, codes += 16) {
    const at = row + (x << 3);
    const low = compare(v128.load(at + to), v128.load(at), isStrict);
    const high = compare(v128.load(at + to + 16), v128.load(at + 16), isStrict);
    setBit(codes, low, high, mask);
  }
}

/** Sets bit `bit` of the codes of a row for a neighbour between four pixels. */
function betweenRow(row: usize, width: usize, neighbour: usize, bit: usize, isStrict: bool, codes: usize): void {
  const w0 = v128.load64_splat(neighbour);
  const w1 = v128.load64_splat(neighbour, 8);
  const w2 = v128.load64_splat(neighbour, 16);
  const w3 = v128.load64_splat(neighbour, 24);
  const to0 = <isize>load<i32>(neighbour, 32);
  const to1 = <isize>load<i32>(neighbour, 36);
  const to2 = <isize>load<i32>(neighbour, 40);
  const to3 = <isize>load<i32>(neighbour, 44);
  const unit = f64x2.splat(UNIT);
  const mask = i32x4.splat(1 << (<i32>bit));
  for (let x: usize = 0; x < width; x += 4, codes += 16) {
    const at = row + (x << 3);
    let low = f64x2.mul(w0, v128.load(at + to0));
    let high = f64x2.mul(w0, v128.load(at + to0 + 16));
    low = f64x2.add(low, f64x2.mul(w1, v128.load(at + to1)));
    high = f64x2.add(high, f64x2.mul(w1, v128.load(at + to1 + 16)));
    low = f64x2.add(low, f64x2.mul(w2, v128.load(at + to2)));
    high = f64x2.add(high, f64x2.mul(w2, v128.load(at + to2 + 16)));
    low = f64x2.add(low, f64x2.mul(w3, v128.load(at + to3)));
    high = f64x2.add(high, f64x2.mul(w3, v128.load(at + to3 + 16)));
    low = compare(low, f64x2.mul(unit, v128.load(at)), isStrict);
    high = compare(high, f64x2.mul(unit, v128.load(at + 16)), isStrict);
    setBit(codes, low, high, mask);
  }
}

function compare(neighbour: v128, centre: v128, isStrict: bool): v128 {
  return isStrict ? f64x2.gt(neighbour, centre) : f64x2.ge(neighbour, centre);
}

function setBit(codes: usize, low: v128, high: v128, mask: v128): void {
  // The low halves of four 64-bit masks.
  const four = i8x16.shuffle(low, high, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
  v128.store(codes, v128.or(v128.load(codes), v128.and(four, mask)));
}

/**
 * Labels of `count` codes at `codes`, `sampleBytes` bytes each, to `out`. The label of a code is its entry of `labels`,
 * as u16. Counts are added to `histogram`, two tables of `bins` u32, because neighbouring labels are often equal;
 * nothing is counted if `bins` is 0.
 */
export function labelRow(
  codes: usize,
  count: usize,
  labels: usize,
  sampleBytes: usize,
  out: usize,
  histogram: usize,
  bins: usize,
): void {
  for (let x: usize = 0; x < count; x++) {
    const label = <usize>load<u16>(labels + ((<usize>load<u32>(codes + (x << 2))) << 1));
    if (sampleBytes === 1) store<u8>(out + x, <u8>label);
    else store<u16>(out + (x << 1), <u16>label);
    if (bins) {
      const at = histogram + (((x & 1) * bins + label) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
  }
}
