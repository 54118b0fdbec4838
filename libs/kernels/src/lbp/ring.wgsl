// Local Binary Pattern of a ring of neighbours that may lie between pixels, over a batch of planes: labels, their
// histogram, or the variance of the neighbours.
//
// A workgroup computes STEPS tiles of COLUMNS x (ROWS * BLOCKS) pixels from left to right. A tile and its halo are
// loaded into workgroup memory with the pixels of the border rule, so that later steps need not handle borders. A lane
// computes ROWS pixels of a column. The comparisons with the neighbours are generated for each ring, by ring-codes.ts:
// `codes_of`.
//
// Labels are exact, and equal on every device. Offsets have five decimals, so a neighbour is an integer multiple of
// 1e-10 grey levels. An f32 estimate decides unless the neighbour is near its pixel; then integers decide.
//
// dispatch: x = ceil(width / (COLUMNS * STEPS)), y = ceil(height / (ROWS * BLOCKS)) of the largest item, z = items.

override BLOCKS: u32 = 4;
override HALO: u32 = 1;
override POINTS: u32 = 8;
// The bit for a neighbour that is equal to its pixel: 0 if STRICT, otherwise 1.
override STRICT: bool = false;
// Index in lbpLabels.
override LABELS: u32 = 0;
override NON_UNIFORM_FIRST: bool = false;
// 1, 2 or 4.
override SAMPLE_BYTES: u32 = 1;

const COLUMNS = 64u;
const ROWS = 4u;
const STEPS = 4u;
const ROR = 1u;
const UNIFORM = 2u;
const NRI_UNIFORM = 3u;

override LANES: u32 = COLUMNS * BLOCKS;

// A neighbour lies between four pixels: the one at `column` and `row`, relative to the centre, the one right of it, and
// the two below these.
struct Neighbour {
  column: i32,
  row: i32,
  // How far right of and below the first pixel, in units of 1 / ONE of a pixel.
  x: i32,
  y: i32,
}

const ONE = 100000i;

@group(0) @binding(4) var<uniform> ring: array<Neighbour, 24>;

// Columns before the halo, so that the tile begins on a boundary of four pixels in memory.
override PAD: u32 = (4 - HALO % 4) % 4;
// Columns of the tile, four at a time.
override TILE_FOURS: u32 = (PAD + COLUMNS + 2 * HALO + 3) / 4;
// Vectors of four rows in a column of the tile. One more makes an even number odd, so that the lanes of a warp, which
// read neighbouring columns, never meet in a memory bank.
override USED_VECTORS: u32 = (ROWS * BLOCKS + 2 * HALO + 3) / 4;
override COLUMN_VECTORS: u32 = USED_VECTORS | 1u;
override TILE_VECTORS: u32 = 4 * TILE_FOURS * COLUMN_VECTORS;
var<workgroup> tile: array<vec4<f32>, TILE_VECTORS>;

// Labels shorter than a word, first packed by column: a lane's rows together. Later they become words of a row.
override PACKED: u32 = select(1u, LANES * SAMPLE_BYTES, SAMPLE_BYTES < 4);
var<workgroup> packed: array<u32, PACKED>;

// The position of a lane.
struct Place {
  // Its index in the workgroup.
  lane: u32,
  // Its first pixel in the item; x may be negative by up to the item's lead.
  x: i32,
  y: u32,
  // The first of its neighbours in the tile, HALO pixels left of and above its first pixel: the column, and the vector
  // of four rows.
  left: u32,
  top: u32,
}

fn place(item: Item, group: vec3<u32>, lane: u32, step: u32) -> Place {
  let column = lane % COLUMNS;
  let block = lane / COLUMNS;
  let x = i32((group.x * STEPS + step) * COLUMNS + column) - i32(item.lead);
  return Place(lane, x, (group.y * BLOCKS + block) * ROWS, column + PAD, block);
}

// Whether no lane has any work; equal for all lanes.
fn is_outside(item: Item, group: vec3<u32>, step: u32) -> bool {
  let x = (group.x * STEPS + step) * COLUMNS;
  return x >= item.lead + item.out_width || group.y * BLOCKS * ROWS >= item.out_height;
}

// Entry point for labels and their counts.
@compute @workgroup_size(LANES)
fn labels(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let item = items[group.z];
  for (var step = 0u; step < STEPS && !is_outside(item, group, step); step++) {
    load_tile(item, group, lane, step);
    workgroupBarrier();
    let at = place(item, group, lane, step);
    let counts = counted_rows(item, at);
    let found = select(vec4(0u), labels_of(codes_of(at)), counts);
    count_column(group.z, lane, found, counts);
    if (WRITE_MAP) {
      write_labels(item, at, found);
    }
    // The next step overwrites data that other lanes may still read.
    workgroupBarrier();
  }
  add_counts(group.z, lane, LANES);
}

// Entry point for variances.
@compute @workgroup_size(LANES)
fn variances(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let item = items[group.z];
  for (var step = 0u; step < STEPS && !is_outside(item, group, step); step++) {
    load_tile(item, group, lane, step);
    workgroupBarrier();
    let at = place(item, group, lane, step);
    write_words(item, at, select(vec4(0u), variances_of(at), counted_rows(item, at)));
    workgroupBarrier();
  }
}

// Loads the tile of a workgroup, with its halo, into workgroup memory: squares of four by four pixels, as columns.
// Nearly all are inside the plane, and are read as whole words: 0.095 ms instead of 0.116 for P = 16 and R = 2
// (measured).
fn load_tile(item: Item, group: vec3<u32>, lane: u32, step: u32) {
  let left = i32(item.out_x + (group.x * STEPS + step) * COLUMNS) - i32(item.lead + HALO + PAD);
  let top = i32(item.out_y + group.y * BLOCKS * ROWS) - i32(HALO);
  for (var k = lane; k < TILE_FOURS * USED_VECTORS; k += LANES) {
    let vector = k / TILE_FOURS;
    let column = 4 * (k % TILE_FOURS);
    let x = left + i32(column);
    let y = top + 4 * i32(vector);
    var rows: mat4x4<f32>;
    if (x >= 0 && x + 4 <= i32(item.stored_width) && y >= 0 && y + 4 <= i32(item.stored_height)) {
      let first = row_of(item, 0, y) + u32(x + i32(item.lead) - i32(item.out_x));
      for (var row = 0u; row < 4; row++) {
        rows[row] = vec4<f32>(aligned_pixels(first + row * 16 * item.src_stride));
      }
    } else {
      for (var row = 0; row < 4; row++) {
        rows[row] = vec4<f32>(four_pixels(item, 0, x, y + row));
      }
    }
    let columns = transpose(rows);
    let at = column * COLUMN_VECTORS + vector;
    tile[at] = columns[0];
    tile[at + COLUMN_VECTORS] = columns[1];
    tile[at + 2 * COLUMN_VECTORS] = columns[2];
    tile[at + 3 * COLUMN_VECTORS] = columns[3];
  }
}

// The pixel `column` and `row` after the first of a lane's neighbours.
fn tile_pixel(at: Place, column: u32, row: u32) -> f32 {
  return tile[(at.left + column) * COLUMN_VECTORS + at.top + row / 4][row % 4];
}

// ROWS pixels of a column.
fn tile_pixels(at: Place, column: u32, row: u32) -> vec4<f32> {
  return vec4(
    tile_pixel(at, column, row), tile_pixel(at, column, row + 1),
    tile_pixel(at, column, row + 2), tile_pixel(at, column, row + 3),
  );
}

// Which of a lane's pixels have a result.
fn counted_rows(item: Item, at: Place) -> vec4<bool> {
  let rows = vec4(at.y) + vec4(0u, 1u, 2u, 3u);
  let column = at.x >= i32(item.valid_x0) && at.x < i32(item.valid_x1);
  return vec4(column) & (rows >= vec4(item.valid_y0)) & (rows < vec4(item.valid_y1));
}

// Decides the neighbours in `doubts` exactly.
fn decided(codes: vec4<u32>, doubts: u32, at: Place) -> vec4<u32> {
  var exact = codes;
  var open = doubts;
  while (open != 0) {
    let i = firstTrailingBit(open);
    open &= open - 1;
    let bits = select(vec4(0u), vec4(1u << i), is_greater(neighbour_values(i, at)));
    exact = (exact & vec4(~(1u << i))) | bits;
  }
  return exact;
}

// Integers with LOW_BITS more bits than an i32: high * 2^LOW_BITS + low, low in 0 … 2^LOW_BITS - 1.
struct Wide {
  high: vec4<i32>,
  low: vec4<i32>,
}

override LOW_BITS: u32 = select(12u, 20u, PIXEL_BYTES == 2);

// The i-th neighbour minus the pixel, for each of a lane's rows, in units of 1 / ONE² of a grey level: below 2^50.
fn neighbour_values(i: u32, at: Place) -> Wide {
  let neighbour = ring[i];
  let centre = tile_pixels(at, HALO, HALO);
  let column = u32(i32(HALO) + neighbour.column);
  let row = u32(i32(HALO) + neighbour.row);
  let left = tile_pixels(at, column, row) - centre;
  let right = tile_pixels(at, column + 1, row) - centre;
  let left_below = tile_pixels(at, column, row + 1) - centre;
  let right_below = tile_pixels(at, column + 1, row + 1) - centre;
  let corners = Corners(vec4<i32>(left), vec4<i32>(right), vec4<i32>(left_below), vec4<i32>(right_below));
  if (PIXEL_BYTES == 1) {
    return weighed(neighbour, corners);
  }
  // Differences of 16 bits are 256 a + b, a in -256 … 255 and b in 0 … 255, and their weighted sums split the same way.
  let a = weighed(neighbour, bits_of(corners, 8, -1));
  let b = weighed(neighbour, bits_of(corners, 0, 255));
  // 256 (4096 a.high + a.low) + 4096 b.high + b.low, computed from the lowest bits on. `middle` is below 2^30 and not
  // negative.
  let lowest = 256 * a.low + b.low;
  let middle = b.high + (lowest >> vec4(12u));
  return Wide(a.high + (middle >> vec4(8u)), ((middle & vec4(255)) << vec4(12u)) | (lowest & vec4(4095)));
}

// The four pixels around a neighbour, minus the pixel.
struct Corners {
  left: vec4<i32>,
  right: vec4<i32>,
  left_below: vec4<i32>,
  right_below: vec4<i32>,
}

fn bits_of(c: Corners, shift: u32, mask: i32) -> Corners {
  let by = vec4(shift);
  let bits = vec4(mask);
  return Corners(
    (c.left >> by) & bits, (c.right >> by) & bits, (c.left_below >> by) & bits, (c.right_below >> by) & bits,
  );
}

// The weighted sum of the corners, each at most 256 in size: high * 4096 + low.
fn weighed(neighbour: Neighbour, c: Corners) -> Wide {
  // Interpolated in the two rows around a neighbour, in units of 1 / ONE: below 2^25, so that the products below fit 30
  // bits.
  let upper = c.left * (ONE - neighbour.x) + c.right * neighbour.x;
  let lower = c.left_below * (ONE - neighbour.x) + c.right_below * neighbour.x;
  let high = (upper >> vec4(12u)) * (ONE - neighbour.y) + (lower >> vec4(12u)) * neighbour.y;
  let low = (upper & vec4(4095)) * (ONE - neighbour.y) + (lower & vec4(4095)) * neighbour.y;
  return Wide(high + (low >> vec4(12u)), low & vec4(4095));
}

fn is_greater(difference: Wide) -> vec4<bool> {
  let is_zero = (difference.high == vec4(0)) & (difference.low == vec4(0));
  return (difference.high >= vec4(0)) & (vec4(!STRICT) | !is_zero);
}

// The labels of codes. The reference is labelOf in labels.ts.
fn labels_of(codes: vec4<u32>) -> vec4<u32> {
  if (LABELS == ROR) {
    return smallest_rotations(codes);
  }
  if (LABELS != UNIFORM && LABELS != NRI_UNIFORM) {
    return codes;
  }
  let turned = rotate_left(codes);
  let ones = countOneBits(codes);
  let is_uniform = countOneBits(codes ^ turned) <= vec4(2u);
  var found = ones;
  var last = POINTS + 1;
  if (LABELS == NRI_UNIFORM) {
    let lowest = firstTrailingBit(codes & ~turned);
    let turns = select(vec4(POINTS), 2 * POINTS - ones, vec4(NON_UNIFORM_FIRST)) - lowest;
    let mixed = 1 + (ones - 1) * POINTS + turns % POINTS;
    last = POINTS * (POINTS - 1) + 2;
    found = select(select(mixed, vec4(last - 1), ones == vec4(POINTS)), vec4(0u), ones == vec4(0u));
  }
  if (NON_UNIFORM_FIRST) {
    return select(vec4(0u), found + 1, is_uniform);
  }
  return select(vec4(last), found, is_uniform);
}

fn rotate_left(codes: vec4<u32>) -> vec4<u32> {
  return ((codes << vec4(1u)) | (codes >> vec4(POINTS - 1))) & vec4((1u << POINTS) - 1);
}

fn smallest_rotations(codes: vec4<u32>) -> vec4<u32> {
  var smallest = codes;
  var turned = codes;
  for (var i = 1u; i < POINTS; i++) {
    turned = rotate_left(turned);
    smallest = min(smallest, turned);
  }
  return smallest;
}

// Four equal labels, usual in flat areas, take one addition.
fn count_column(histogram: u32, lane: u32, found: vec4<u32>, counts: vec4<bool>) {
  if (all(counts) && all(found == found.xxxx)) {
    count(histogram, lane, found.x, 4);
    return;
  }
  if (counts.x) {
    count(histogram, lane, found.x, 1);
  }
  if (counts.y) {
    count(histogram, lane, found.y, 1);
  }
  if (counts.z) {
    count(histogram, lane, found.z, 1);
  }
  if (counts.w) {
    count(histogram, lane, found.w, 1);
  }
}

// Turns labels of columns into words of rows, which several lanes share.
fn write_labels(item: Item, at: Place, found: vec4<u32>) {
  if (SAMPLE_BYTES == 4) {
    write_words(item, at, found);
    return;
  }
  // Two or four lanes share words. The n-th of them writes the n-th of their rows, or pairs of rows.
  let part = at.lane % (4 / SAMPLE_BYTES);
  let first = at.lane - part;
  if (SAMPLE_BYTES == 2) {
    packed[2 * at.lane] = found.x | (found.y << 16);
    packed[2 * at.lane + 1] = found.z | (found.w << 16);
    workgroupBarrier();
    let left = packed[2 * first + part];
    let right = packed[2 * (first + 1) + part];
    write_word(item, at, part, 2 * part, (left & 0xffff) | (right << 16));
    write_word(item, at, part, 2 * part + 1, (left >> 16) | (right & 0xffff0000u));
  } else {
    packed[at.lane] = found.x | (found.y << 8) | (found.z << 16) | (found.w << 24);
    workgroupBarrier();
    let labels = vec4(packed[first], packed[first + 1], packed[first + 2], packed[first + 3]);
    let bytes = (labels >> vec4(8 * part)) & vec4(0xffu);
    write_word(item, at, part, part, bytes.x | (bytes.y << 8) | (bytes.z << 16) | (bytes.w << 24));
  }
  // The next labels overwrite data that other lanes may still read.
  workgroupBarrier();
}

fn write_words(item: Item, at: Place, column: vec4<u32>) {
  write_word(item, at, 0, 0, column.x);
  write_word(item, at, 0, 1, column.y);
  write_word(item, at, 0, 2, column.z);
  write_word(item, at, 0, 3, column.w);
}

// Writes a word of results in one of a lane's rows; its first result is `before` columns left of the lane.
fn write_word(item: Item, at: Place, before: u32, row: u32, word: u32) {
  let sample = u32(at.x + i32(item.lead)) - before;
  let y = at.y + row;
  if (sample < item.lead + item.out_width && y < item.out_height) {
    store_word(4 * (item.map + y * item.map_stride) + sample * SAMPLE_BYTES / 4, word);
  }
}

// Biased variances of the neighbours, as the bits of f32, NaN if all are equal. Differences between neighbours are
// exact, and their mean is subtracted before they are squared.
fn variances_of(at: Place) -> vec4<u32> {
  let first = neighbour_values(0, at);
  var sum = vec4(0.0);
  var is_flat = vec4(true);
  for (var i = 1u; i < POINTS; i++) {
    let value = neighbour_values(i, at);
    is_flat &= (value.high == first.high) & (value.low == first.low);
    sum += grey_levels(value, first);
  }
  let mean = sum / f32(POINTS);
  var squares = mean * mean;
  for (var i = 1u; i < POINTS; i++) {
    let deviation = grey_levels(neighbour_values(i, at), first) - mean;
    squares += deviation * deviation;
  }
  return select(bitcast<vec4<u32>>(squares / f32(POINTS)), vec4(0x7fc00000u), is_flat);
}

// value - base.
fn grey_levels(value: Wide, base: Wide) -> vec4<f32> {
  let high = vec4<f32>(value.high - base.high) * f32(1u << LOW_BITS);
  return (high + vec4<f32>(value.low - base.low)) * 1e-10;
}
