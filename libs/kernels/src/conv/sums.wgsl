// Sums of taps times pixels for the 16 pixels of a row that a lane computes. Comes before direct.wgsl, after tile.wgsl.
//
// A lane slides over the tile's rows with five words of pixels in registers, and takes four taps for each word that it
// loads: 64 multiply-adds. Taps are added in the same order for every pixel, wherever it lies. Multiply-adds of float32
// are written as fma, so that a compiler cannot round them differently in different places.

// Binary digits after the point of EXACT sums, at least 13.
override SHIFT: u32 = 13;

// Rows of TAP_GROUPS vectors of taps: float32 taps; two matrices of them for MAGNITUDE; upper and then lower limbs, as
// i32, for EXACT. 31 rows of 8 groups, twice.
const TABLE = 496u;
@group(0) @binding(4) var<uniform> taps: array<vec4<u32>, TABLE>;

// 16 values of a row.
struct Reals {
  a: vec4<f32>,
  b: vec4<f32>,
  c: vec4<f32>,
  d: vec4<f32>,
}

struct Wholes {
  a: vec4<i32>,
  b: vec4<i32>,
  c: vec4<i32>,
  d: vec4<i32>,
}

// Sums of float32 taps from vector `table` on. A row takes at least two groups of taps; the first and the last are
// partial.
fn sums(lane: vec2<u32>, table: u32) -> Reals {
  var s = Reals(vec4(0f), vec4(0f), vec4(0f), vec4(0f));
  for (var r = 0u; r < SIDE; r++) {
    let row = lane.y + r;
    var p0 = tile_reals(row, lane.x, TAP_WORD);
    var p1 = tile_reals(row, lane.x, TAP_WORD + 1);
    var p2 = tile_reals(row, lane.x, TAP_WORD + 2);
    var p3 = tile_reals(row, lane.x, TAP_WORD + 3);
    var p4 = tile_reals(row, lane.x, TAP_WORD + 4);
    let at = table + r * TAP_GROUPS;
    s = add_taps(s, bitcast<vec4<f32>>(taps[at]), p0, p1, p2, p3, p4, TAP_BEGIN, 4);
    for (var g = 1u; g < TAP_GROUPS - 1; g++) {
      p0 = p1;
      p1 = p2;
      p2 = p3;
      p3 = p4;
      p4 = tile_reals(row, lane.x, TAP_WORD + g + 4);
      s = add_taps(s, bitcast<vec4<f32>>(taps[at + g]), p0, p1, p2, p3, p4, 0, 4);
    }
    let p5 = tile_reals(row, lane.x, TAP_WORD + TAP_GROUPS + 3);
    s = add_taps(s, bitcast<vec4<f32>>(taps[at + TAP_GROUPS - 1]), p1, p2, p3, p4, p5, 0, TAP_END);
  }
  return s;
}

// Adds the taps begin … end - 1 of four; both are constants at each call.
fn add_taps(
  before: Reals, four: vec4<f32>,
  p0: vec4<f32>, p1: vec4<f32>, p2: vec4<f32>, p3: vec4<f32>, p4: vec4<f32>,
  begin: u32, end: u32,
) -> Reals {
  var s = before;
  if (begin == 0) {
    let t = vec4(four.x);
    s = Reals(fma(t, p0, s.a), fma(t, p1, s.b), fma(t, p2, s.c), fma(t, p3, s.d));
  }
  if (begin <= 1 && end > 1) {
    let t = vec4(four.y);
    s.a = fma(t, vec4(p0.yzw, p1.x), s.a);
    s.b = fma(t, vec4(p1.yzw, p2.x), s.b);
    s.c = fma(t, vec4(p2.yzw, p3.x), s.c);
    s.d = fma(t, vec4(p3.yzw, p4.x), s.d);
  }
  if (begin <= 2 && end > 2) {
    let t = vec4(four.z);
    s.a = fma(t, vec4(p0.zw, p1.xy), s.a);
    s.b = fma(t, vec4(p1.zw, p2.xy), s.b);
    s.c = fma(t, vec4(p2.zw, p3.xy), s.c);
    s.d = fma(t, vec4(p3.zw, p4.xy), s.d);
  }
  if (end > 3) {
    let t = vec4(four.w);
    s.a = fma(t, vec4(p0.w, p1.xyz), s.a);
    s.b = fma(t, vec4(p1.w, p2.xyz), s.b);
    s.c = fma(t, vec4(p2.w, p3.xyz), s.c);
    s.d = fma(t, vec4(p3.w, p4.xyz), s.d);
  }
  return s;
}

// Sums of integer taps times 2^-SHIFT, rounded to the nearest integer, halves to the even one.
fn exact_sums(lane: vec2<u32>) -> Wholes {
  let t = limbs_of(lane, 0);
  if (PIXEL_BYTES == 1) {
    return Wholes(
      rounded(t.upper.a, t.lower.a), rounded(t.upper.b, t.lower.b),
      rounded(t.upper.c, t.lower.c), rounded(t.upper.d, t.lower.d),
    );
  }
  let u = limbs_of(lane, 8);
  return Wholes(
    rounded_deep(u.upper.a, u.lower.a, t.upper.a, t.lower.a), rounded_deep(u.upper.b, u.lower.b, t.upper.b, t.lower.b),
    rounded_deep(u.upper.c, u.lower.c, t.upper.c, t.lower.c), rounded_deep(u.upper.d, u.lower.d, t.upper.d, t.lower.d),
  );
}

// Sums in two words: of the taps' lower 12 bits, and of their upper bits.
struct Limbs {
  upper: Wholes,
  lower: Wholes,
}

// Sums of integer taps times one byte of the pixels, the byte that begins at bit `shift`.
fn limbs_of(lane: vec2<u32>, shift: u32) -> Limbs {
  var upper = Wholes(vec4(0), vec4(0), vec4(0), vec4(0));
  var lower = Wholes(vec4(0), vec4(0), vec4(0), vec4(0));
  for (var r = 0u; r < SIDE; r++) {
    let row = lane.y + r;
    var p0 = tile_wholes(row, lane.x, TAP_WORD, shift);
    var p1 = tile_wholes(row, lane.x, TAP_WORD + 1, shift);
    var p2 = tile_wholes(row, lane.x, TAP_WORD + 2, shift);
    var p3 = tile_wholes(row, lane.x, TAP_WORD + 3, shift);
    var p4 = tile_wholes(row, lane.x, TAP_WORD + 4, shift);
    let at = r * TAP_GROUPS;
    upper = add_whole_taps(upper, upper_taps(at), p0, p1, p2, p3, p4, TAP_BEGIN, 4);
    lower = add_whole_taps(lower, lower_taps(at), p0, p1, p2, p3, p4, TAP_BEGIN, 4);
    for (var g = 1u; g < TAP_GROUPS - 1; g++) {
      p0 = p1;
      p1 = p2;
      p2 = p3;
      p3 = p4;
      p4 = tile_wholes(row, lane.x, TAP_WORD + g + 4, shift);
      upper = add_whole_taps(upper, upper_taps(at + g), p0, p1, p2, p3, p4, 0, 4);
      lower = add_whole_taps(lower, lower_taps(at + g), p0, p1, p2, p3, p4, 0, 4);
    }
    let p5 = tile_wholes(row, lane.x, TAP_WORD + TAP_GROUPS + 3, shift);
    let last = at + TAP_GROUPS - 1;
    upper = add_whole_taps(upper, upper_taps(last), p1, p2, p3, p4, p5, 0, TAP_END);
    lower = add_whole_taps(lower, lower_taps(last), p1, p2, p3, p4, p5, 0, TAP_END);
  }
  return Limbs(upper, lower);
}

fn tile_wholes(row: u32, lane: u32, word: u32, shift: u32) -> vec4<i32> {
  return vec4<i32>((tile_pixels(row, lane, word) >> vec4(shift)) & vec4(0xffu));
}

fn upper_taps(at: u32) -> vec4<i32> {
  return bitcast<vec4<i32>>(taps[at]);
}

fn lower_taps(at: u32) -> vec4<i32> {
  return bitcast<vec4<i32>>(taps[SIDE * TAP_GROUPS + at]);
}

// add_taps for integers.
fn add_whole_taps(
  before: Wholes, four: vec4<i32>,
  p0: vec4<i32>, p1: vec4<i32>, p2: vec4<i32>, p3: vec4<i32>, p4: vec4<i32>,
  begin: u32, end: u32,
) -> Wholes {
  var s = before;
  if (begin == 0) {
    s = Wholes(s.a + four.x * p0, s.b + four.x * p1, s.c + four.x * p2, s.d + four.x * p3);
  }
  if (begin <= 1 && end > 1) {
    s.a += four.y * vec4(p0.yzw, p1.x);
    s.b += four.y * vec4(p1.yzw, p2.x);
    s.c += four.y * vec4(p2.yzw, p3.x);
    s.d += four.y * vec4(p3.yzw, p4.x);
  }
  if (begin <= 2 && end > 2) {
    s.a += four.z * vec4(p0.zw, p1.xy);
    s.b += four.z * vec4(p1.zw, p2.xy);
    s.c += four.z * vec4(p2.zw, p3.xy);
    s.d += four.z * vec4(p3.zw, p4.xy);
  }
  if (end > 3) {
    s.a += four.w * vec4(p0.w, p1.xyz);
    s.b += four.w * vec4(p1.w, p2.xyz);
    s.c += four.w * vec4(p2.w, p3.xyz);
    s.d += four.w * vec4(p3.w, p4.xyz);
  }
  return s;
}

// (4096 upper + lower) / 2^SHIFT.
fn rounded(upper: vec4<i32>, lower: vec4<i32>) -> vec4<i32> {
  let high = upper + (lower >> vec4(12u));
  let low = lower & vec4(4095);
  let below = high >> vec4(SHIFT - 12);
  let rest = high & vec4((1i << (SHIFT - 12)) - 1);
  let half = vec4(1i << (SHIFT - 13));
  let is_up = (rest > half) | ((rest == half) & ((low > vec4(0)) | ((below & vec4(1)) == vec4(1))));
  return below + select(vec4(0), vec4(1), is_up);
}

// Bits of SHIFT within the lower 20 bits, or above them.
override LOW_SHIFT: u32 = min(SHIFT, 20);
override HIGH_SHIFT: u32 = max(SHIFT, 21) - 20;

// (256 (4096 upper1 + lower1) + 4096 upper0 + lower0) / 2^SHIFT, within the range of an i32.
fn rounded_deep(upper1: vec4<i32>, lower1: vec4<i32>, upper0: vec4<i32>, lower0: vec4<i32>) -> vec4<i32> {
  // As 2^20 high + low, with low in 0 … 2^20 - 1, computed from the lowest bits on; `middle` is below 2^30 + 2^21 in
  // size.
  let lowest = 256 * (lower1 & vec4(4095)) + (lower0 & vec4(4095));
  let middle = upper0 + (lower0 >> vec4(12u)) + (lowest >> vec4(12u));
  let high = upper1 + (lower1 >> vec4(12u)) + (middle >> vec4(8u));
  let low = ((middle & vec4(255)) << vec4(12u)) | (lowest & vec4(4095));
  // `rest`, out of 2^k, is rounded away, and `more` says whether anything below it is not 0.
  var below: vec4<i32>;
  var rest: vec4<i32>;
  var more = vec4(false);
  var half: i32;
  if (SHIFT > 20) {
    below = high >> vec4(HIGH_SHIFT);
    rest = high & vec4((1i << HIGH_SHIFT) - 1);
    more = low > vec4(0);
    half = 1i << (HIGH_SHIFT - 1);
  } else {
    // The clamp only changes results that saturate anyway: all others are below 2^29.
    let most = (1i << (LOW_SHIFT + 10)) - 1;
    below = (clamp(high, vec4(-most), vec4(most)) << vec4(20 - LOW_SHIFT)) | (low >> vec4(LOW_SHIFT));
    rest = low & vec4((1i << LOW_SHIFT) - 1);
    half = 1i << (LOW_SHIFT - 1);
  }
  let is_odd = (below & vec4(1)) == vec4(1);
  let is_up = (rest > vec4(half)) | ((rest == vec4(half)) & (more | is_odd));
  return below + select(vec4(0), vec4(1), is_up);
}
