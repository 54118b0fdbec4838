// Local Binary Pattern of the 3x3 square as usually written for GPUs, four pixels a lane; square-vector.wgsl is
// measured against it. Each neighbour of a word of four pixels is read separately: from global memory or, if TILED,
// from workgroup memory, into which the workgroup first loads its pixels with their halo. Codes are counted one by one.
//
// dispatch: x = ceil(width / (4 * LANES_X)), y = ceil(height / LANES_Y) of the largest item, z = items.

override LANES_X: u32 = 32;
override LANES_Y: u32 = 8;
// NW is bit 7 (true) or bit 0 (false) of the ring NW N NE E SE S SW W.
override MSB: bool = true;
override TILED: bool = false;

// Columns and rows of NW N NE E SE S SW W, two bits each, NW in the lowest: 0 is left or above, 1 the same, 2 right or
// below. An array with a variable index would be kept in memory.
const RING_COLUMNS = 0x06a4u;
const RING_ROWS = 0x6a40u;

// A word on each side, a row above and one below.
override TILE_WORDS: u32 = LANES_X + 2;
override TILE_SIZE: u32 = select(1u, TILE_WORDS * (LANES_Y + 2), TILED);
var<workgroup> tile: array<u32, TILE_SIZE>;

@compute @workgroup_size(LANES_X, LANES_Y)
fn lbp(
  @builtin(global_invocation_id) at: vec3<u32>,
  @builtin(local_invocation_id) lane: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let item = items[group.z];
  if (TILED) {
    load_tile(item, group, local);
    workgroupBarrier();
  }
  let x = i32(4 * at.x) - i32(item.lead);
  if (x < i32(item.out_width) && at.y < item.out_height) {
    let counts = valid_word(item, x, at.y);
    let codes = codes_of(item, lane, x, i32(at.y)) & counts;
    store_word(4 * (item.map + at.y * item.map_stride) + at.x, codes);
    for (var shift = 0u; shift < 32; shift += 8) {
      if (((counts >> shift) & 1) == 1) {
        count(group.z, local, (codes >> shift) & 0xff, 1);
      }
    }
  }
  add_counts(group.z, local, LANES_X * LANES_Y);
}

fn load_tile(item: Item, group: vec3<u32>, local: u32) {
  let left = i32(item.out_x) - i32(item.lead) + i32(4 * group.x * LANES_X) - 4;
  let top = i32(item.out_y + group.y * LANES_Y) - 1;
  for (var i = local; i < TILE_SIZE; i += LANES_X * LANES_Y) {
    tile[i] = pixels4(item, 0, left + i32(4 * (i % TILE_WORDS)), top + i32(i / TILE_WORDS));
  }
}

// The codes of pixels x … x + 3 of row y, relative to `out`, the first one in the low byte.
fn codes_of(item: Item, lane: vec3<u32>, x: i32, y: i32) -> u32 {
  let centre = neighbours(item, lane, x, y, vec2(0));
  var codes = 0u;
  for (var i = 0u; i < 8; i++) {
    let step = vec2<i32>((vec2(RING_COLUMNS, RING_ROWS) >> vec2(2 * i)) & vec2(3u)) - 1;
    let bits = at_least(neighbours(item, lane, x, y, step), centre) & 0x80808080u;
    codes |= (bits >> 7) << select(i, 7 - i, MSB);
  }
  return codes;
}

// The pixels at distance `step` from the pixels of a lane.
fn neighbours(item: Item, lane: vec3<u32>, x: i32, y: i32, step: vec2<i32>) -> u32 {
  if (!TILED) {
    return pixels4(item, 0, i32(item.out_x) + x + step.x, i32(item.out_y) + y + step.y);
  }
  let byte = 4 * lane.x + u32(4 + step.x);
  let word = u32(i32(lane.y) + 1 + step.y) * TILE_WORDS + byte / 4;
  let shift = 8 * (byte % 4);
  // Shifting by 32 is undefined.
  return (tile[word] >> shift) | select(tile[word + 1] << ((32 - shift) % 32), 0u, shift == 0);
}

// Sets the high bit of each byte if byte n >= byte c. The other bits are arbitrary. See square-vector.wgsl.
fn at_least(n: u32, c: u32) -> u32 {
  let low = (n | 0x80808080u) - (c & 0x7f7f7f7fu);
  return (n & ~c) | (~(n ^ c) & low);
}
