// Local Binary Pattern of a ring of neighbours that may lie between pixels, over a batch of planes: labels, their
// histogram, or the variance of the neighbours.
//
// Exact: offsets have five decimals, so that a neighbour is a whole number of 1e-10 grey levels. An f32 estimate decides
// unless the neighbour is near its pixel, and then integers do, see `greater`: labels are the same on every device.
// Measured on 8-bit photographs of 0.25 Mpx, 16 points, radius 2: integers for 2 to 13 % of the neighbours of 32 x 4 pixels.
//
// A workgroup computes STEPS tiles of COLUMNS x (ROWS * BLOCKS) pixels from left to right. A tile and its halo are put
// into workgroup memory with the pixels of the border rule, so that what follows knows no borders. A lane computes one
// column, ROWS pixels at a time: the rows between two of them are interpolated once for both. All lanes are in the same
// row, and a row of `tile` has a constant length, so that of the bounds checks that WGSL puts into each access to `tile`
// only two for a neighbour, those of its columns, are not shared by the whole workgroup.
//
// dispatch: x = ceil(width / (COLUMNS * STEPS)), y = ceil(height / (ROWS * BLOCKS)) of the largest item, z = items.

override BLOCKS: u32 = 4;
override HALO: u32 = 1;
override POINTS: u32 = 8;
// A neighbour that is equal to its pixel gives 0 (true) or 1.
override STRICT: bool = false;
// Index in lbpLabels.
override LABELS: u32 = 0;
override NON_UNIFORM_FIRST: bool = false;
// 1, 2 or 4.
override SAMPLE_BYTES: u32 = 1;

const COLUMNS = 64u;
const ROWS = 4u;
const STEPS = 4u;
// A row of a tile and the largest halo.
const TILE_WIDTH = 96u;
const ROR = 1u;
const UNIFORM = 2u;
const NRI_UNIFORM = 3u;

override TILE_HEIGHT: u32 = ROWS * BLOCKS + 2 * HALO;
// Of a row of a tile: what this halo needs, four pixels at a time.
override TILE_FOURS: u32 = (COLUMNS + 2 * HALO + 3) / 4;

const ONE = 100000i;

// A neighbour lies between the pixel that is `row` and `column` further in the tile, the one right of that, and the two
// below these.
struct Neighbour {
  column: i32,
  row: i32,
  // How far right of and below the first pixel, in units of 1 / ONE of a pixel.
  x: i32,
  y: i32,
  // x in pixels; y, and what is left of a pixel below it.
  right: f32,
  down: f32,
  up: f32,
  unused: f32,
}

@group(0) @binding(4) var<uniform> ring: array<Neighbour, 24>;

var<workgroup> tile: array<array<f32, TILE_WIDTH>, TILE_HEIGHT>;
// Labels of less than a word: those of a lane's rows together. They become words of a row.
var<workgroup> packed: array<u32, select(1u, COLUMNS * SAMPLE_BYTES, SAMPLE_BYTES < 4)>;

// Where a lane is.
struct Place {
  lane: u32,
  // Its first pixel in the item; x may be negative by up to the item's lead.
  x: i32,
  y: u32,
  // The same pixel in `tile`.
  column: u32,
  row: u32,
}

fn place(item: Item, group: vec3<u32>, lane: u32, step: u32, block: u32) -> Place {
  let x = i32((group.x * STEPS + step) * COLUMNS + lane) - i32(item.lead);
  let y = (group.y * BLOCKS + block) * ROWS;
  return Place(lane, x, y, lane + HALO, block * ROWS + HALO);
}

// Whether no lane has anything to do; equal for all of them.
fn is_outside(item: Item, group: vec3<u32>, step: u32, block: u32) -> bool {
  let x = (group.x * STEPS + step) * COLUMNS;
  let y = (group.y * BLOCKS + block) * ROWS;
  return x >= item.lead + item.out_width || y >= item.out_height;
}

// Labels, and their counts.
@compute @workgroup_size(COLUMNS)
fn labels(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let item = items[group.z];
  for (var step = 0u; step < STEPS && !is_outside(item, group, step, 0); step++) {
    load_tile(item, place(item, group, lane, step, 0));
    workgroupBarrier();
    for (var block = 0u; block < BLOCKS && !is_outside(item, group, step, block); block++) {
      let at = place(item, group, lane, step, block);
      let counts = counted_rows(item, at);
      let found = select(vec4(0u), labels_of(codes_of(at)), counts);
      count_column(group.z, lane, found, counts);
      if (WRITE_MAP) {
        write_labels(item, at, found);
      }
    }
    // The next step overwrites what others may still read.
    workgroupBarrier();
  }
  add_counts(group.z, lane, COLUMNS);
}

// Variances.
@compute @workgroup_size(COLUMNS)
fn variances(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let item = items[group.z];
  for (var step = 0u; step < STEPS && !is_outside(item, group, step, 0); step++) {
    load_tile(item, place(item, group, lane, step, 0));
    workgroupBarrier();
    for (var block = 0u; block < BLOCKS && !is_outside(item, group, step, block); block++) {
      let at = place(item, group, lane, step, block);
      write_words(item, at, select(vec4(0u), variances_of(at), counted_rows(item, at)));
    }
    workgroupBarrier();
  }
}

// Puts the tile of a lane's workgroup, with its halo, into workgroup memory.
fn load_tile(item: Item, first: Place) {
  let left = i32(item.out_x) + first.x - i32(first.lane) - i32(HALO);
  let top = i32(item.out_y + first.y) - i32(HALO);
  for (var k = first.lane; k < TILE_FOURS * TILE_HEIGHT; k += COLUMNS) {
    let row = k / TILE_FOURS;
    let column = 4 * (k - row * TILE_FOURS);
    let four = vec4<f32>(four_pixels(item, 0, left + i32(column), top + i32(row)));
    tile[row][column] = four.x;
    tile[row][column + 1] = four.y;
    tile[row][column + 2] = four.z;
    tile[row][column + 3] = four.w;
  }
}

// Which of a lane's pixels have a result.
fn counted_rows(item: Item, at: Place) -> vec4<bool> {
  let rows = vec4(at.y) + vec4(0u, 1u, 2u, 3u);
  let column = at.x >= i32(item.valid_x0) && at.x < i32(item.valid_x1);
  return vec4(column) & (rows >= vec4(item.valid_y0)) & (rows < vec4(item.valid_y1));
}

// ROWS pixels of a column.
fn pixels_at(row: u32, column: u32) -> vec4<f32> {
  return vec4(tile[row][column], tile[row + 1][column], tile[row + 2][column], tile[row + 3][column]);
}

fn codes_of(at: Place) -> vec4<u32> {
  let centre = pixels_at(at.row, at.column);
  var codes = vec4(0u);
  for (var i = 0u; i < POINTS; i++) {
    let bits = greater(ring[i], at, centre);
    codes |= select(vec4(0u), vec4(1u << i), bits);
  }
  return codes;
}

// The f32 estimate of neighbour - pixel is wrong by less than this. Values are below 2^8, so that a rounded result and a
// rounded weight each make it wrong by at most 2^-17. There are three of them in each row (weight, product, sum) and six
// where rows are put together (two weights, two products, two sums): less than 2^-13.8, fused or not. Values of 16 bits are
// below 2^16, and wrong by 2^8 times as much.
override NEAR: f32 = select(0.000244140625, 0.0625, PIXEL_BYTES == 2);

// Whether the neighbours of a lane's rows make bits 1.
fn greater(neighbour: Neighbour, at: Place, centre: vec4<f32>) -> vec4<bool> {
  let row = u32(i32(at.row) + neighbour.row);
  let column = u32(i32(at.column) + neighbour.column);
  let left = pixels_at(row, column);
  if (neighbour.x == 0 && neighbour.y == 0) {
    return (left > centre) | ((left == centre) & vec4(!STRICT));
  }
  let left_below = tile[row + 4][column];
  let right = pixels_at(row, column + 1);
  let right_below = tile[row + 4][column + 1];
  let side = right - left;
  let side_below = right_below - left_below;
  let upper = left + neighbour.right * side;
  let lower = vec4(upper.yzw, left_below + neighbour.right * side_below);
  let difference = neighbour.down * lower + (neighbour.up * upper - centre);
  let near = abs(difference) <= vec4(NEAR);
  if (!any(near)) {
    return difference > vec4(0.0);
  }
  // Four equal pixels, the rule in flat areas, that are near the pixel are equal to it.
  let varies = (side != vec4(0.0)) | (vec4(side.yzw, side_below) != vec4(0.0)) | (upper != lower);
  if (!any(near & varies)) {
    return select(difference > vec4(0.0), vec4(!STRICT), near);
  }
  return is_greater(exact_difference(neighbour, at, centre));
}

// Integers of LOW_BITS more bits than an i32 has: high * 2^LOW_BITS + low, low in 0 … 2^LOW_BITS - 1.
struct Wide {
  high: vec4<i32>,
  low: vec4<i32>,
}

override LOW_BITS: u32 = select(12u, 20u, PIXEL_BYTES == 2);

// Neighbour - pixel for each of a lane's rows, in units of 1 / ONE² of a grey level: below 2^42, or 2^50 for 16 bits.
fn exact_difference(neighbour: Neighbour, at: Place, centre: vec4<f32>) -> Wide {
  let first_row = u32(i32(at.row) + neighbour.row);
  let column = u32(i32(at.column) + neighbour.column);
  let left = pixels_at(first_row, column);
  let right = pixels_at(first_row, column + 1);
  let left_below = vec4(left.yzw, tile[first_row + 4][column]);
  let right_below = vec4(right.yzw, tile[first_row + 4][column + 1]);
  let corners = Corners(
    vec4<i32>(left - centre), vec4<i32>(right - centre), vec4<i32>(left_below - centre), vec4<i32>(right_below - centre),
  );
  if (PIXEL_BYTES == 1) {
    return weighed(neighbour, corners);
  }
  // Differences of 16 bits are 256 a + b, a in -256 … 255 and b in 0 … 255, and so are their weighed sums.
  let a = weighed(neighbour, corners_of(corners, 8, -1));
  let b = weighed(neighbour, corners_of(corners, 0, 255));
  // 256 (4096 a.high + a.low) + 4096 b.high + b.low, from the lowest bits on. `middle` is below 2^30 and not negative.
  let lowest = 256 * a.low + b.low;
  let middle = b.high + (lowest >> vec4(12u));
  return Wide(a.high + (middle >> vec4(8u)), ((middle & vec4(255)) << vec4(12u)) | (lowest & vec4(4095)));
}

// The four pixels around a neighbour, less the pixel.
struct Corners {
  left: vec4<i32>,
  right: vec4<i32>,
  left_below: vec4<i32>,
  right_below: vec4<i32>,
}

// Bits of the corners.
fn corners_of(c: Corners, shift: u32, mask: i32) -> Corners {
  let by = vec4(shift);
  let bits = vec4(mask);
  return Corners(
    (c.left >> by) & bits, (c.right >> by) & bits, (c.left_below >> by) & bits, (c.right_below >> by) & bits,
  );
}

// The sum of the corners, none above 256 in size, each times its weight: high * 4096 + low.
fn weighed(neighbour: Neighbour, c: Corners) -> Wide {
  // The two rows around a neighbour, in units of 1 / ONE: below 2^25, so that the products below fit 30 bits.
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

// The labels of codes: the twin of labelOf in labels.ts.
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

// Four equal labels, the rule in flat areas, take one addition.
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

// Labels of columns become words of rows, which several lanes share.
fn write_labels(item: Item, at: Place, found: vec4<u32>) {
  if (SAMPLE_BYTES == 4) {
    write_words(item, at, found);
    return;
  }
  // Of two or four lanes the n-th writes the n-th rows.
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
  // The next rows overwrite what others may still read.
  workgroupBarrier();
}

fn write_words(item: Item, at: Place, column: vec4<u32>) {
  write_word(item, at, 0, 0, column.x);
  write_word(item, at, 0, 1, column.y);
  write_word(item, at, 0, 2, column.z);
  write_word(item, at, 0, 3, column.w);
}

// Writes a word of results of one of a lane's rows; the first one is `before` columns left of the lane.
fn write_word(item: Item, at: Place, before: u32, row: u32, word: u32) {
  let sample = u32(at.x + i32(item.lead)) - before;
  let y = at.y + row;
  if (sample < item.lead + item.out_width && y < item.out_height) {
    store_word(4 * (item.map + y * item.map_stride) + sample * SAMPLE_BYTES / 4, word);
  }
}

// Biased variances of the neighbours, as the bits of f32, NaN where they are all equal. The differences between
// neighbours are exact, and their mean is taken off before they are squared.
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

fn neighbour_values(i: u32, at: Place) -> Wide {
  return exact_difference(ring[i], at, pixels_at(at.row, at.column));
}

// value - base.
fn grey_levels(value: Wide, base: Wide) -> vec4<f32> {
  let high = vec4<f32>(value.high - base.high) * f32(1u << LOW_BITS);
  return (high + vec4<f32>(value.low - base.low)) * 1e-10;
}
