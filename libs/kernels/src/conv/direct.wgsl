// Convolution with any matrix, over a batch of planes, as f32, i16 or u8. Comes after tile.wgsl, sums.wgsl and
// bins.wgsl.
//
// A lane computes 16 pixels of a row with the sums of sums.wgsl.
//
// dispatch: x = ceil(width / 256), y = ceil(height / 16) of the largest item, z = items x channels.

// The kind of arithmetic: see arithmetic.ts.
override ARITHMETIC: u32 = 0;
const SUM = 0u;
const MAGNITUDE = 1u;
const EXACT = 2u;

// Type of the dense result.
override SAMPLE: u32 = 0;
const F32 = 0u;
const I16 = 1u;
const U8 = 2u;

override SCALE: f32 = 1;

@compute @workgroup_size(GROUP_VECTORS, GROUP_ROWS)
fn direct(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) lane: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let item = items[group.z / CHANNELS];
  load_tile(item, group.z % CHANNELS, group.xy, local);
  let place = place_of(item, group, lane.xy);
  if (place.is_inside) {
    if (SAMPLE == F32) {
      let v = valid_reals(item, place, reals(lane.xy));
      write_reals(item, place, v);
      count_reals(group.z, local, v.a);
      count_reals(group.z, local, v.b);
      count_reals(group.z, local, v.c);
      count_reals(group.z, local, v.d);
    } else if (SAMPLE == I16) {
      let v = valid_wholes(item, place, wholes(lane.xy));
      write_shorts(item, place, v);
      count_wholes(group.z, local, v.a);
      count_wholes(group.z, local, v.b);
      count_wholes(group.z, local, v.c);
      count_wholes(group.z, local, v.d);
    } else {
      let values = bytes_of(valid_wholes(item, place, wholes(lane.xy)));
      store_vector(place.row + place.vector, values);
      count_bytes(group.z, local, 0, values.x);
      count_bytes(group.z, local, 0, values.y);
      count_bytes(group.z, local, 0, values.z);
      count_bytes(group.z, local, 0, values.w);
    }
  }
  if (local == 0 && group.x == 0 && group.y == 0) {
    uncount(group.z, local, BIN_OF_ZERO, excess(item, 1));
  }
  add_counts(group.z, local, THREADS);
}

// Where a lane's 16 pixels are.
struct Place {
  is_inside: bool,
  vector: u32,    // of 16 pixels of the item's row
  x: i32,         // first pixel, relative to `out`; below 0 within `lead`
  y: u32,
  row: u32,       // vector of the first result of the row
}

fn place_of(item: Item, group: vec3<u32>, lane: vec2<u32>) -> Place {
  let vector = group.x * GROUP_VECTORS + lane.x;
  let y = group.y * GROUP_ROWS + lane.y;
  let x = i32(vector * 16) - i32(item.lead);
  let row = item.map + ((group.z % CHANNELS) * item.out_height + y) * item.map_stride;
  return Place(x < i32(item.out_width) && y < item.out_height, vector, x, y, row);
}

// Results as f32.
fn reals(lane: vec2<u32>) -> Reals {
  if (ARITHMETIC == EXACT) {
    let v = exact_sums(lane);
    return Reals(exact_real(v.a), exact_real(v.b), exact_real(v.c), exact_real(v.d));
  }
  let s = sums(lane, 0);
  if (ARITHMETIC == MAGNITUDE) {
    let t = sums(lane, SIDE * TAP_GROUPS);
    return Reals(root(s.a, t.a), root(s.b, t.b), root(s.c, t.c), root(s.d, t.d));
  }
  return Reals(s.a * SCALE, s.b * SCALE, s.c * SCALE, s.d * SCALE);
}

// Results as integers, not saturated. Float sums are integers here.
fn wholes(lane: vec2<u32>) -> Wholes {
  if (ARITHMETIC == EXACT) {
    return exact_sums(lane);
  }
  let s = sums(lane, 0);
  if (ARITHMETIC == MAGNITUDE) {
    let t = sums(lane, SIDE * TAP_GROUPS);
    return Wholes(whole_root(s.a, t.a), whole_root(s.b, t.b), whole_root(s.c, t.c), whole_root(s.d, t.d));
  }
  return Wholes(vec4<i32>(s.a), vec4<i32>(s.b), vec4<i32>(s.c), vec4<i32>(s.d));
}

fn root(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
  return sqrt(a * a + b * b);
}

// The integer nearest to the root of the sum of the squares of two integers; any integer above 32767 if the root is.
// The float32 root is within one of it. n is right if n^2 - n < squares <= n^2 + n, because the root of an integer is
// never a half. Numbers are limited to 40000, so that the sum of their squares is below 2^32.
fn whole_root(a: vec4<f32>, b: vec4<f32>) -> vec4<i32> {
  let x = vec4<u32>(min(abs(a), vec4(40000f)));
  let y = vec4<u32>(min(abs(b), vec4(40000f)));
  let squares = x * x + y * y;
  let n = vec4<u32>(sqrt(vec4<f32>(squares)) + 0.5);
  let lower = select(vec4(0u), vec4(1u), (squares <= n * n - n) & (n > vec4(0u)));
  let higher = select(vec4(0u), vec4(1u), squares > n * n + n);
  return vec4<i32>(n - lower + higher);
}

// The nearest f32 of an integer: the sum of two numbers that f32 holds exactly, rounded once.
fn exact_real(value: vec4<i32>) -> vec4<f32> {
  return vec4<f32>(value >> vec4(12u)) * 4096 + vec4<f32>(value & vec4(4095));
}

fn write_reals(item: Item, place: Place, v: Reals) {
  write_four(item, place, 0, v.a);
  write_four(item, place, 4, v.b);
  write_four(item, place, 8, v.c);
  write_four(item, place, 12, v.d);
}

fn write_four(item: Item, place: Place, first: u32, value: vec4<f32>) {
  if (place.x + i32(first) < i32(item.out_width)) {
    store_vector(place.row + place.vector * 4 + first / 4, bitcast<vec4<u32>>(value));
  }
}

fn write_shorts(item: Item, place: Place, v: Wholes) {
  let at = place.row + place.vector * 2;
  store_vector(at, vec4(shorts_of(v.a), shorts_of(v.b)));
  if (place.x + 8 < i32(item.out_width)) {
    store_vector(at + 1, vec4(shorts_of(v.c), shorts_of(v.d)));
  }
}

// Four values in two words, saturated.
fn shorts_of(value: vec4<i32>) -> vec2<u32> {
  let v = bitcast<vec4<u32>>(clamp(value, vec4(-32768), vec4(32767))) & vec4(0xffffu);
  return v.xz | (v.yw << vec2(16u));
}

// 16 values in four words, saturated.
fn bytes_of(v: Wholes) -> vec4<u32> {
  return vec4(byte_word(v.a), byte_word(v.b), byte_word(v.c), byte_word(v.d));
}

fn byte_word(value: vec4<i32>) -> u32 {
  return pack4xU8(vec4<u32>(clamp(value, vec4(0), vec4(255))));
}

// Values, with 0 for pixels without a result.
fn valid_reals(item: Item, place: Place, v: Reals) -> Reals {
  return Reals(
    select(vec4(0f), v.a, valid_pixels(item, place.x, place.y)),
    select(vec4(0f), v.b, valid_pixels(item, place.x + 4, place.y)),
    select(vec4(0f), v.c, valid_pixels(item, place.x + 8, place.y)),
    select(vec4(0f), v.d, valid_pixels(item, place.x + 12, place.y)),
  );
}

fn valid_wholes(item: Item, place: Place, v: Wholes) -> Wholes {
  return Wholes(
    select(vec4(0), v.a, valid_pixels(item, place.x, place.y)),
    select(vec4(0), v.b, valid_pixels(item, place.x + 4, place.y)),
    select(vec4(0), v.c, valid_pixels(item, place.x + 8, place.y)),
    select(vec4(0), v.d, valid_pixels(item, place.x + 12, place.y)),
  );
}
