// Turns rows of a video's luma, in the range and the bits of its decoder, into gray, with WebAssembly SIMD:
// AssemblyScript, compiled by 'npm run wasm' to src/video/process/luma.wasm, which is committed so that nobody needs
// the compiler to run it.
//
// `height` rows of `width` samples at `from`, `stride` bytes apart, become rows at `to`, `toStride` apart. Up to 31
// bytes behind the last sample of a row are read and written as well; the next row overwrites them.

/**
 * As the values of expandedLuma in src/video/process/video-gray.ts for 8 bits: (2 (Y - 16) 19077 + 2^14) >> 15, clipped
 * to 0…255.
 */
export function expand8(from: usize, stride: usize, width: usize, height: usize, to: usize, toStride: usize): void {
  const black = i8x16.splat(16);
  const scale = i16x8.splat(19077);
  for (let y: usize = 0; y < height; y++) {
    for (let x: usize = 0; x < width; x += 16) {
      const above = i8x16.sub_sat_u(v128.load(from + x), black);
      const low = i16x8.q15mulr_sat_s(i16x8.shl(i16x8.extend_low_i8x16_u(above), 1), scale);
      const high = i16x8.q15mulr_sat_s(i16x8.shl(i16x8.extend_high_i8x16_u(above), 1), scale);
      v128.store(to + x, i8x16.narrow_i16x8_u(low, high));
    }
    from += stride;
    to += toStride;
  }
}

/** Samples of 8 bits as they are. */
export function copy8(from: usize, stride: usize, width: usize, height: usize, to: usize, toStride: usize): void {
  for (let y: usize = 0; y < height; y++) {
    memory.copy(to, from, width);
    from += stride;
    to += toStride;
  }
}

/** Samples of `bits` bits (9 to 14) that lie above `shift` unused bits, by the formula of expandedLuma. */
export function expand16(
  from: usize,
  stride: usize,
  width: usize,
  height: usize,
  to: usize,
  toStride: usize,
  bits: i32,
  shift: i32,
): void {
  const below = 15 - bits;
  const half = i32x4.splat(1 << (below - 1));
  const most = i32x4.splat((1 << bits) - 1);
  const bytes = width << 1;
  for (let y: usize = 0; y < height; y++) {
    for (let x: usize = 0; x < bytes; x += 16) {
      const samples = i16x8.shr_u(v128.load(from + x), shift);
      const low = expanded(i32x4.extend_low_i16x8_u(samples), below, half, most);
      const high = expanded(i32x4.extend_high_i16x8_u(samples), below, half, most);
      v128.store(to + x, i16x8.narrow_i32x4_u(low, high));
    }
    from += stride;
    to += toStride;
  }
}

function expanded(luma: v128, below: i32, half: v128, most: v128): v128 {
  const capped = i32x4.min_u(i32x4.shl(luma, below), i32x4.splat(30189));
  const wide = i32x4.shr_s(i32x4.sub(i32x4.mul(capped, i32x4.splat(19077)), i32x4.splat(39057361)), 14);
  return i32x4.max_s(i32x4.splat(0), i32x4.min_s(most, i32x4.shr_s(i32x4.add(wide, half), below)));
}

/** Samples of the full range in the lowest bits. */
export function copy16(
  from: usize,
  stride: usize,
  width: usize,
  height: usize,
  to: usize,
  toStride: usize,
  _bits: i32,
  shift: i32,
): void {
  const bytes = width << 1;
  for (let y: usize = 0; y < height; y++) {
    for (let x: usize = 0; x < bytes; x += 16) v128.store(to + x, i16x8.shr_u(v128.load(from + x), shift));
    from += stride;
    to += toStride;
  }
}
