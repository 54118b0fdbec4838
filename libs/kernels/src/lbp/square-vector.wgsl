// Local Binary Pattern of the 3x3 square over a batch of 8-bit planes, and its 256-bin histogram, in one pass.
//
// A lane computes 16 pixels of four rows, packed four to a word (SWAR). It loads the six rows that it needs without a
// branch between the loads, so that they wait for memory together. Measured on an H200, 4928 x 2772: the map takes
// 0.018 ms, with a window that loads row by row 0.025. With a histogram, 16 pixels per lane take 0.019 ms, four 0.024.
//
// dispatch: x = ceil(width / (16 * LANES_X)), y = ceil(height / (4 * LANES_Y)) of the largest item, z = items.

override LANES_X: u32 = 32;
override LANES_Y: u32 = 8;
// NW is bit 7 (true) or bit 0 (false) of the ring NW N NE E SE S SW W.
override MSB: bool = true;

const ROWS = 4u;
const HIGH = 0x80808080u;
const LOW = 0x7f7f7f7fu;

@compute @workgroup_size(LANES_X, LANES_Y)
fn lbp(
  @builtin(global_invocation_id) lane: vec3<u32>,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let item = items[group.z];
  let x = i32(lane.x * 16) - i32(item.lead);
  let y = lane.y * ROWS;
  if (x < i32(item.out_width) && y < item.out_height) {
    let codes = lane_codes(item, lane.x, x, y);
    write_codes(item, lane.x, y, codes);
    count_vector(group.z, local, codes.row0);
    count_vector(group.z, local, codes.row1);
    count_vector(group.z, local, codes.row2);
    count_vector(group.z, local, codes.row3);
  }
  if (local == 0 && group.x == 0 && group.y == 0) {
    uncount(group.z, local, 0, excess(item, ROWS));
  }
  put_counts(group.z, local, LANES_X * LANES_Y, groups);
}

// The codes of a lane: 16 pixels of four rows. Pixels without a result have code 0.
struct Codes {
  row0: vec4<u32>,
  row1: vec4<u32>,
  row2: vec4<u32>,
  row3: vec4<u32>,
}

fn lane_codes(item: Item, column: u32, x: i32, y: u32) -> Codes {
  let top = i32(item.out_y + y) - 1;
  let raw0 = load(item, column, top);
  let raw1 = load(item, column, top + 1);
  let raw2 = load(item, column, top + 2);
  let raw3 = load(item, column, top + 3);
  let raw4 = load(item, column, top + 4);
  let raw5 = load(item, column, top + 5);
  let r0 = with_neighbours(at_edges(item, raw0, x, top));
  let r1 = with_neighbours(at_edges(item, raw1, x, top + 1));
  let r2 = with_neighbours(at_edges(item, raw2, x, top + 2));
  let r3 = with_neighbours(at_edges(item, raw3, x, top + 3));
  let r4 = with_neighbours(at_edges(item, raw4, x, top + 4));
  let r5 = with_neighbours(at_edges(item, raw5, x, top + 5));
  var codes = Codes(codes_of(r0, r1, r2), codes_of(r1, r2, r3), codes_of(r2, r3, r4), codes_of(r3, r4, r5));
  let all_columns = x >= i32(item.valid_x0) && x + 16 <= i32(item.valid_x1);
  let all_rows = y >= item.valid_y0 && y + ROWS <= item.valid_y1;
  if (!(all_columns && all_rows)) {
    codes.row0 &= valid_vector(item, x, y);
    codes.row1 &= valid_vector(item, x, y + 1);
    codes.row2 &= valid_vector(item, x, y + 2);
    codes.row3 &= valid_vector(item, x, y + 3);
  }
  return codes;
}

fn write_codes(item: Item, column: u32, y: u32, codes: Codes) {
  let at = item.map + y * item.map_stride + column;
  store_vector(at, codes.row0);
  if (y + 1 < item.out_height) {
    store_vector(at + item.map_stride, codes.row1);
  }
  if (y + 2 < item.out_height) {
    store_vector(at + 2 * item.map_stride, codes.row2);
  }
  if (y + 3 < item.out_height) {
    store_vector(at + 3 * item.map_stride, codes.row3);
  }
}

fn count_vector(histogram: u32, local: u32, codes: vec4<u32>) {
  count_bytes(histogram, local, 0, codes.x);
  count_bytes(histogram, local, 0, codes.y);
  count_bytes(histogram, local, 0, codes.z);
  count_bytes(histogram, local, 0, codes.w);
}

// 16 pixels of a row, with the word before and the word after them.
struct Raw {
  before: u32,
  here: vec4<u32>,
  after: u32,
}

// The row that the border rule puts at y, at most one pixel outside the plane. No branches: see the top of this file.
fn load(item: Item, column: u32, y: i32) -> Raw {
  let at = item.src + u32(near_index(y, i32(item.stored_height))) * item.src_stride + column;
  return Raw(planes[at - 1].w, planes[at], planes[at + 1].x);
}

// Inserts the border rule's pixels left and right of the plane, and in rows of zeros.
fn at_edges(item: Item, raw: Raw, x: i32, y: i32) -> Raw {
  if (BORDER == INTERIOR) {
    return raw;
  }
  if (BORDER == ZERO && (y < 0 || y >= i32(item.stored_height))) {
    return Raw(0, vec4(0u), 0);
  }
  let stored_x = i32(item.out_x) + x;
  let end = i32(item.stored_width) - stored_x;
  if (stored_x != 0 && end > 16) {
    return raw;
  }
  var edged = raw;
  if (stored_x == 0) {
    edged.before = edge_pixel(item, -1, y) << 24;
  }
  if (end <= 16) {
    let pixel = edge_pixel(item, i32(item.stored_width), y);
    if (end == 16) {
      edged.after = pixel;
    } else {
      let shift = 8 * (u32(end) % 4);
      let patched = (raw.here & vec4(~(0xffu << shift))) | vec4(pixel << shift);
      edged.here = select(raw.here, patched, vec4(end / 4) == vec4(0, 1, 2, 3));
    }
  }
  return edged;
}

// The pixel that the border rule puts at column x, just outside the stored plane.
fn edge_pixel(item: Item, x: i32, y: i32) -> u32 {
  if (BORDER == ZERO) {
    return 0;
  }
  let column = near_index(x, i32(item.stored_width)) + i32(item.lead) - i32(item.out_x);
  let row = 16 * (item.src + u32(near_index(y, i32(item.stored_height))) * item.src_stride);
  return byte_at(u32(i32(row) + column));
}

// border_index for an i at most one pixel outside, and 0 or n - 1 if the pixel is 0. No branches: see the top of this
// file.
fn near_index(i: i32, n: i32) -> i32 {
  let before = select(select(0, n - 1, BORDER == WRAP), min(1, n - 1), BORDER == MIRROR);
  let after = select(select(n - 1, 0, BORDER == WRAP), max(n - 2, 0), BORDER == MIRROR);
  return select(select(i, after, i >= n), before, i < 0);
}

// A row with its neighbours: byte k of `west` is the pixel left of byte k of `here`.
struct Row {
  west: vec4<u32>,
  here: vec4<u32>,
  east: vec4<u32>,
}

fn with_neighbours(raw: Raw) -> Row {
  let west = (raw.here << vec4(8u)) | (vec4(raw.before, raw.here.xyz) >> vec4(24u));
  let east = (raw.here >> vec4(8u)) | (vec4(raw.here.yzw, raw.after) << vec4(24u));
  return Row(west, raw.here, east);
}

// The codes of 16 pixels, from their row and the rows above and below.
fn codes_of(above: Row, centre: Row, below: Row) -> vec4<u32> {
  let c = centre.here;
  let nw = at_least(above.west, c);
  let n = at_least(above.here, c);
  let ne = at_least(above.east, c);
  let e = at_least(centre.east, c);
  let se = at_least(below.east, c);
  let s = at_least(below.here, c);
  let sw = at_least(below.west, c);
  let w = at_least(centre.west, c);
  if (MSB) {
    return pack_bits(nw, n, ne, e, se, s, sw, w);
  }
  return pack_bits(w, sw, s, se, e, ne, n, nw);
}

// Sets the high bit of each byte if byte n >= byte c. The other bits are arbitrary. The low seven bits are compared by
// a subtraction that cannot borrow across bytes; if the high bits differ, they decide.
fn at_least(n: vec4<u32>, c: vec4<u32>) -> vec4<u32> {
  let low = (n | vec4(HIGH)) - (c & vec4(LOW));
  return (n & ~c) | (~(n ^ c) & low);
}

// Packs the high bits of b7 … b0 as bits 7 … 0 of each byte, by halves: 14 operations instead of 16.
fn pack_bits(
  b7: vec4<u32>, b6: vec4<u32>, b5: vec4<u32>, b4: vec4<u32>,
  b3: vec4<u32>, b2: vec4<u32>, b1: vec4<u32>, b0: vec4<u32>,
) -> vec4<u32> {
  let b76 = choose(0x80808080u, b7, b6 >> vec4(1u));
  let b54 = choose(0x80808080u, b5, b4 >> vec4(1u));
  let b32 = choose(0x80808080u, b3, b2 >> vec4(1u));
  let b10 = choose(0x80808080u, b1, b0 >> vec4(1u));
  let high = choose(0xc0c0c0c0u, b76, b54 >> vec4(2u));
  let low = choose(0xc0c0c0c0u, b32, b10 >> vec4(2u));
  return choose(0xf0f0f0f0u, high, low >> vec4(4u));
}

// Bits of a if the mask's bit is 1, otherwise bits of b.
fn choose(mask: u32, a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
  return (a & vec4(mask)) | (b & vec4(~mask));
}
