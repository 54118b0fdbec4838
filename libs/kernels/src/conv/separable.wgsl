// Convolution with a matrix that is an outer product, as f32, over a batch of 8-bit planes. Comes after tile.wgsl, for
// its constants and edge_word, bins.wgsl, and the code that separable-sums.ts generates for a side: COLUMNS, BLOCKS,
// row_sums and column_sums.
//
// A group filters rows into workgroup memory, straight from the plane, 16 pixels per lane at a time: the vectors before
// and after those 16 hold any halo. Then it filters the columns of the result: a lane computes four columns of four
// rows. Taps are added in the same order for every pixel, wherever it lies.
//
// dispatch: x = ceil(width / (16 * GROUP_VECTORS)), y = ceil(height / GROUP_ROWS) of the largest item,
// z = items x channels.

override SCALE: f32 = 1;

// Rows of sums, in blocks of four. A row's columns are in vectors of four, placed by slot_of.
var<workgroup> filtered: array<array<array<vec4<f32>, COLUMNS>, 4>, BLOCKS>;

// 16 pixels of a row, and those before and after them.
struct Window {
  before: vec4<u32>,
  own: vec4<u32>,
  after: vec4<u32>,
}

@compute @workgroup_size(THREADS)
fn separable(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = items[group.z / CHANNELS];
  for (var i = local; i < TILE_ROWS * GROUP_VECTORS; i += THREADS) {
    filter_row(item, group, i / GROUP_VECTORS, i % GROUP_VECTORS);
  }
  workgroupBarrier();
  for (var i = local; i < GROUP_ROWS / 4 * COLUMNS; i += THREADS) {
    filter_columns(item, group, local, i / COLUMNS, i % COLUMNS);
  }
  if (local == 0 && group.x == 0 && group.y == 0) {
    let columns = 4 * ((item.lead + item.out_width + 3) / 4);
    let valid = (item.valid_x1 - item.valid_x0) * (item.valid_y1 - item.valid_y0);
    uncount(group.z, local, BIN_OF_ZERO, columns * item.out_height - valid);
  }
  add_counts(group.z, local, THREADS);
}

// The place of a vector in a row, so that eight neighbouring lanes never meet in a memory bank. In a row pass these
// lanes are four vectors apart, in one row or two; in a column pass, one vector. XOR with 1, 2 and 3 gives the other
// three vectors of a lane.
fn slot_of(row: u32, column: u32) -> u32 {
  return column ^ ((column / 8) % 4) ^ (2 * (row % 2));
}

// Filters the 16 pixels of a lane in a row of the group.
fn filter_row(item: Item, group: vec3<u32>, row: u32, lane: u32) {
  let vector = group.x * GROUP_VECTORS + lane;
  let line = group.y * GROUP_ROWS + row;
  if (16 * vector >= item.lead + item.out_width || line >= item.out_height + 2 * HALO) {
    return;
  }
  // Stored column and row of the first pixel.
  let x = i32(item.out_x + 16 * vector) - i32(item.lead);
  let y = border_index(i32(item.out_y + line) - i32(HALO), i32(item.stored_height));
  let channel = group.z % CHANNELS;
  var window = Window();
  if (y >= 0) {
    // Before the first vector of the buffer this reads some other vector; its pixels are replaced below.
    let at = item.src + (channel * item.stored_height + u32(y)) * item.src_stride + vector;
    window = Window(planes[at - 1], planes[at], planes[at + 1]);
    if (x < i32(HALO) || x + 16 + i32(HALO) > i32(item.stored_width)) {
      window = edge_window(window, item, channel, x, y);
    }
  }
  let sums = row_sums(window);
  let slot = slot_of(row, 4 * lane);
  filtered[row / 4][row % 4][slot] = sums[0];
  filtered[row / 4][row % 4][slot ^ 1] = sums[1];
  filtered[row / 4][row % 4][slot ^ 2] = sums[2];
  filtered[row / 4][row % 4][slot ^ 3] = sums[3];
}

// The window around pixel x of row y of the plane, with the border rule's pixels outside the plane. The window's words
// are rotated so that all indexes are constant: an indexed window would be kept in memory, even in the inner part.
fn edge_window(window: Window, item: Item, channel: u32, x: i32, y: i32) -> Window {
  var turned = window;
  for (var i = x - 16; i < x + 32; i += 4) {
    var word = turned.before.x;
    let is_taken = i + 3 >= x - i32(HALO) && i < x + 16 + i32(HALO);
    if (is_taken && (i < 0 || i + 4 > i32(item.stored_width))) {
      word = edge_word(item, channel, i, y);
    }
    turned.before = vec4(turned.before.yzw, turned.own.x);
    turned.own = vec4(turned.own.yzw, turned.after.x);
    turned.after = vec4(turned.after.yzw, word);
  }
  return turned;
}

// Filters four columns of four rows, which are block `block` of the group.
fn filter_columns(item: Item, group: vec3<u32>, local: u32, block: u32, column: u32) {
  let vector = group.x * COLUMNS + column;
  let x = i32(vector * 4) - i32(item.lead);
  let y = group.y * GROUP_ROWS + 4 * block;
  if (x < i32(item.out_width) && y < item.out_height) {
    let sums = column_sums(block, slot_of(0, column), slot_of(1, column));
    let row = item.map + ((group.z % CHANNELS) * item.out_height + y) * item.map_stride;
    leave(item, group.z, local, row + vector, x, y, sums[0]);
    leave(item, group.z, local, row + item.map_stride + vector, x, y + 1, sums[1]);
    leave(item, group.z, local, row + 2 * item.map_stride + vector, x, y + 2, sums[2]);
    leave(item, group.z, local, row + 3 * item.map_stride + vector, x, y + 3, sums[3]);
  }
}

// Writes and counts four columns of a row.
fn leave(item: Item, histogram: u32, local: u32, at: u32, x: i32, y: u32, sums: vec4<f32>) {
  if (y < item.out_height) {
    let kept = select(vec4(0f), sums * SCALE, valid_pixels(item, x, y));
    store_vector(at, bitcast<vec4<u32>>(kept));
    count_reals(histogram, local, kept);
  }
}
