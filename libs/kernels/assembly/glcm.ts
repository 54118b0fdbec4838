// Gray-Level Co-occurrence Matrices with WebAssembly SIMD: AssemblyScript, compiled by 'npm run wasm' to
// src/glcm/glcm.wasm. That file is committed, so that the compiler is not needed to run it.

/**
 * Writes the levels of `length` pixels, value * levels >> 8, a byte each. Works on 16 pixels at a time, so that up to
 * 15 bytes beyond both are read and written.
 */
export function levelsOfBytes(source: usize, levels: i16, length: usize, to: usize): void {
  const times = i16x8.splat(levels);
  for (let x: usize = 0; x < length; x += 16) {
    // The products are below 2^14.
    const low = i16x8.shr_u(i16x8.mul(v128.load8x8_u(source + x), times), 8);
    const high = i16x8.shr_u(i16x8.mul(v128.load8x8_u(source + x + 8), times), 8);
    v128.store(to + x, i8x16.narrow_i16x8_u(low, high));
  }
}

/** The same for pixels of 16 bits: value * levels >> 16. */
export function levelsOfWords(source: usize, levels: u32, length: usize, to: usize): void {
  for (let x: usize = 0; x < length; x++) {
    store<u8>(to + x, <u8>((<u32>load<u16>(source + 2 * x) * levels) >> 16));
  }
}

/**
 * Codes of `length` pairs: the level at `own` times `levels` plus the level at `partner`. They are written to `codes`,
 * two bytes each, up to 14 bytes too many, and counted in two tables of `tableBytes` bytes from `tables` on:
 * neighbouring codes are often equal, and in a single table each increment would wait for the one before.
 */
export function countPairs(
  own: usize,
  partner: usize,
  levels: i16,
  length: usize,
  codes: usize,
  tables: usize,
  tableBytes: usize,
): void {
  const times = i16x8.splat(levels);
  for (let x: usize = 0; x < length; x += 8) {
    const products = i16x8.mul(v128.load8x8_u(own + x), times);
    v128.store(codes + 2 * x, i16x8.add(products, v128.load8x8_u(partner + x)));
  }
  const other = tables + tableBytes;
  let x: usize = 0;
  for (; x + 1 < length; x += 2) {
    const two = load<u32>(codes + 2 * x);
    count(tables, two & 0xffff);
    count(other, two >> 16);
  }
  if (x < length) count(tables, load<u16>(codes + 2 * x));
}

function count(table: usize, code: u32): void {
  const at = table + 4 * <usize>code;
  store<u32>(at, load<u32>(at) + 1);
}
