// Sums of taps times pixels for the 16 pixels of a row that a lane computes. Before direct.wgsl, after tile.wgsl.
//
// A lane slides over the tile's rows with five words of pixels in registers, and takes four taps for each word that it
// loads: 64 multiply-adds. Each pixel's sum has the order of the taps, wherever it lies, and multiply-adds of float32 are
// written as such, so that no compiler may round them in one place and not in another.

// Binary digits after the point of EXACT sums, at least 13.
override SHIFT: u32 = 13;

// Rows of TAP_GROUPS vectors of taps: float32, or two matrices of them for MAGNITUDE, or upper and then lower limbs of
// i32 for EXACT. 31 rows of 8 groups, twice.
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

// Sums of float32 taps from vector `table` on. A row takes two groups of taps or more: the first and the last are cut.
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

// Adds the taps begin … end - 1 of four; both are constants where it is called.
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

// Sums of integer taps times 2^-SHIFT, rounded to the nearest integer, the even one of two. Each is summed in two words:
// the taps' lower 12 bits, and what is above.
fn exact_sums(lane: vec2<u32>) -> Wholes {
  var upper = Wholes(vec4(0), vec4(0), vec4(0), vec4(0));
  var lower = Wholes(vec4(0), vec4(0), vec4(0), vec4(0));
  for (var r = 0u; r < SIDE; r++) {
    let row = lane.y + r;
    var p0 = tile_wholes(row, lane.x, TAP_WORD);
    var p1 = tile_wholes(row, lane.x, TAP_WORD + 1);
    var p2 = tile_wholes(row, lane.x, TAP_WORD + 2);
    var p3 = tile_wholes(row, lane.x, TAP_WORD + 3);
    var p4 = tile_wholes(row, lane.x, TAP_WORD + 4);
    let at = r * TAP_GROUPS;
    upper = add_whole_taps(upper, upper_taps(at), p0, p1, p2, p3, p4, TAP_BEGIN, 4);
    lower = add_whole_taps(lower, lower_taps(at), p0, p1, p2, p3, p4, TAP_BEGIN, 4);
    for (var g = 1u; g < TAP_GROUPS - 1; g++) {
      p0 = p1;
      p1 = p2;
      p2 = p3;
      p3 = p4;
      p4 = tile_wholes(row, lane.x, TAP_WORD + g + 4);
      upper = add_whole_taps(upper, upper_taps(at + g), p0, p1, p2, p3, p4, 0, 4);
      lower = add_whole_taps(lower, lower_taps(at + g), p0, p1, p2, p3, p4, 0, 4);
    }
    let p5 = tile_wholes(row, lane.x, TAP_WORD + TAP_GROUPS + 3);
    let last = at + TAP_GROUPS - 1;
    upper = add_whole_taps(upper, upper_taps(last), p1, p2, p3, p4, p5, 0, TAP_END);
    lower = add_whole_taps(lower, lower_taps(last), p1, p2, p3, p4, p5, 0, TAP_END);
  }
  return Wholes(
    rounded(upper.a, lower.a), rounded(upper.b, lower.b), rounded(upper.c, lower.c), rounded(upper.d, lower.d),
  );
}

fn tile_wholes(row: u32, lane: u32, word: u32) -> vec4<i32> {
  return vec4<i32>(unpack4xU8(tile_word(row, lane, word)));
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
