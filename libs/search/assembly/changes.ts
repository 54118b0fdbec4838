// How frames of a camera compare, with WebAssembly SIMD: AssemblyScript, compiled by 'npm run wasm' to
// src/changes/changes.wasm, which is committed so that nobody needs the compiler to run it.
//
// A frame has `cells` cells of `bins` shares each, float32, one cell after another.

/**
 * Writes a float64 for each cell to `out`: 1 - sum(min(a, b)), at least 0; and 0 if one of the two cells has no share
 * above 0.
 */
export function apart(a: usize, b: usize, cells: usize, bins: usize, out: usize): void {
  const bytes = bins << 2;
  const fours = bytes & ~15;
  for (let cell: usize = 0; cell < cells; cell++) {
    let low = f64x2.splat(0);
    let high = f64x2.splat(0);
    for (let at: usize = 0; at < fours; at += 16) {
      const least = f32x4.pmin(v128.load(a + at), v128.load(b + at));
      low = f64x2.add(low, f64x2.promote_low_f32x4(least));
      high = f64x2.add(high, f64x2.promote_low_f32x4(i32x4.shuffle(least, least, 2, 3, 2, 3)));
    }
    const both = f64x2.add(low, high);
    let common = f64x2.extract_lane(both, 0) + f64x2.extract_lane(both, 1);
    for (let at = fours; at < bytes; at += 4) common += <f64>min(load<f32>(a + at), load<f32>(b + at));
    const isKnown = common > 0 || (isAnyAbove0(a, bytes) && isAnyAbove0(b, bytes));
    store<f64>(out + (cell << 3), isKnown ? max(0, 1 - common) : 0);
    a += bytes;
    b += bytes;
  }
}

function isAnyAbove0(at: usize, bytes: usize): bool {
  for (const end = at + bytes; at < end; at += 4) if (load<f32>(at) > 0) return true;
  return false;
}

/**
 * Writes `length` values, a multiple of 4, to `out`: each is the mean of the middle four of the eight frames' values at
 * its place. The frames lie one after another from `frames` on. A sorting network of Batcher's orders eight values in
 * each lane.
 */
export function middleOfEight(frames: usize, length: usize, out: usize): void {
  const bytes = length << 2;
  for (let at: usize = 0; at < bytes; at += 16) {
    const from = frames + at;
    let v0 = v128.load(from);
    let v1 = v128.load(from + bytes);
    let v2 = v128.load(from + 2 * bytes);
    let v3 = v128.load(from + 3 * bytes);
    let v4 = v128.load(from + 4 * bytes);
    let v5 = v128.load(from + 5 * bytes);
    let v6 = v128.load(from + 6 * bytes);
    let v7 = v128.load(from + 7 * bytes);
    let less = f32x4.pmin(v0, v1);
    v1 = f32x4.pmax(v0, v1);
    v0 = less;
    less = f32x4.pmin(v2, v3);
    v3 = f32x4.pmax(v2, v3);
    v2 = less;
    less = f32x4.pmin(v4, v5);
    v5 = f32x4.pmax(v4, v5);
    v4 = less;
    less = f32x4.pmin(v6, v7);
    v7 = f32x4.pmax(v6, v7);
    v6 = less;
    // Pairs into fours.
    less = f32x4.pmin(v0, v2);
    v2 = f32x4.pmax(v0, v2);
    v0 = less;
    less = f32x4.pmin(v1, v3);
    v3 = f32x4.pmax(v1, v3);
    v1 = less;
    less = f32x4.pmin(v4, v6);
    v6 = f32x4.pmax(v4, v6);
    v4 = less;
    less = f32x4.pmin(v5, v7);
    v7 = f32x4.pmax(v5, v7);
    v5 = less;
    less = f32x4.pmin(v1, v2);
    v2 = f32x4.pmax(v1, v2);
    v1 = less;
    less = f32x4.pmin(v5, v6);
    v6 = f32x4.pmax(v5, v6);
    v5 = less;
    // Fours into eight; only the middle ones are needed.
    v4 = f32x4.pmax(v0, v4);
    less = f32x4.pmin(v1, v5);
    v5 = f32x4.pmax(v1, v5);
    v1 = less;
    less = f32x4.pmin(v2, v6);
    v6 = f32x4.pmax(v2, v6);
    v2 = less;
    v3 = f32x4.pmin(v3, v7);
    less = f32x4.pmin(v2, v4);
    v4 = f32x4.pmax(v2, v4);
    v2 = less;
    less = f32x4.pmin(v3, v5);
    v5 = f32x4.pmax(v3, v5);
    v3 = less;
    v2 = f32x4.pmax(v1, v2);
    less = f32x4.pmin(v3, v4);
    v4 = f32x4.pmax(v3, v4);
    v3 = less;
    v5 = f32x4.pmin(v5, v6);
    v128.store(out + at, i64x2.shuffle(mean(v2, v3, v4, v5), mean(high(v2), high(v3), high(v4), high(v5)), 0, 2));
  }
}

/** The mean of the lower two lanes of four ascending vectors, added up in float64. */
function mean(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f64x2.add(f64x2.promote_low_f32x4(a), f64x2.promote_low_f32x4(b));
  const sum = f64x2.add(f64x2.add(ab, f64x2.promote_low_f32x4(c)), f64x2.promote_low_f32x4(d));
  return f32x4.demote_f64x2_zero(f64x2.mul(sum, f64x2.splat(0.25)));
}

function high(lanes: v128): v128 {
  return i32x4.shuffle(lanes, lanes, 2, 3, 2, 3);
}
