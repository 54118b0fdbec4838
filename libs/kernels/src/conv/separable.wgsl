// Convolution with a matrix that is an outer product, as f32, over a batch of 8-bit planes. After tile.wgsl.
//
// A group filters the rows of its tile into workgroup memory, eight pixels a lane at a time, and then the columns of
// that: a lane computes four columns of four rows, and takes a vector of taps, one for each row, for every four pixels
// that it loads. Each pixel's sums have the order of the taps, wherever it lies.
//
// dispatch: x = ceil(width / 64), y = ceil(height / GROUP_ROWS) of the largest item, z = items x channels.

override SCALE: f32 = 1;

// Lines of the taps: those of a row in groups of four from TAP_BEGIN on, and from COLUMN_TAPS on vectors whose element k is
// the tap of the k-th of four rows. 8 groups, 34 vectors.
const COLUMN_TAPS = 8u;
const TABLE = 42u;
@group(0) @binding(4) var<uniform> taps: array<vec4<f32>, TABLE>;

// Words of four columns in a group's row.
const COLUMNS = 16u;
// Lanes that filter a row: eight pixels each.
const ROW_LANES = 8u;
var<workgroup> filtered: array<vec4<f32>, TILE_ROWS * COLUMNS>;

@compute @workgroup_size(THREADS)
fn separable(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let item = items[group.z / CHANNELS];
  load_tile(item, group.z % CHANNELS, group.xy, local);
  for (var i = local; i < TILE_ROWS * ROW_LANES; i += THREADS) {
    filter_row(i / ROW_LANES, i % ROW_LANES);
  }
  workgroupBarrier();

  filter_columns(item, group, local / COLUMNS * 4, local % COLUMNS);
}

// Eight pixels of a row of the tile.
fn filter_row(row: u32, lane: u32) {
  let vector = lane / 2;
  let word = TAP_WORD + 2 * (lane % 2);
  var a = vec4(0f);
  var b = vec4(0f);
  var p0 = tile_reals(row, vector, word);
  var p1 = tile_reals(row, vector, word + 1);
  // Taps outside the matrix are 0 in the table.
  for (var g = 0u; g < TAP_GROUPS; g++) {
    let p2 = tile_reals(row, vector, word + g + 2);
    let four = taps[g];
    a = fma(vec4(four.x), p0, a);
    b = fma(vec4(four.x), p1, b);
    a = fma(vec4(four.y), vec4(p0.yzw, p1.x), a);
    b = fma(vec4(four.y), vec4(p1.yzw, p2.x), b);
    a = fma(vec4(four.z), vec4(p0.zw, p1.xy), a);
    b = fma(vec4(four.z), vec4(p1.zw, p2.xy), b);
    a = fma(vec4(four.w), vec4(p0.w, p1.xyz), a);
    b = fma(vec4(four.w), vec4(p1.w, p2.xyz), b);
    p0 = p1;
    p1 = p2;
  }
  let at = row * COLUMNS + lane * 2;
  filtered[at] = a;
  filtered[at + 1] = b;
}

// Four rows, from row `first` of the group on, of four columns.
fn filter_columns(item: Item, group: vec3<u32>, first: u32, column: u32) {
  var a = vec4(0f);
  var b = vec4(0f);
  var c = vec4(0f);
  var d = vec4(0f);
  for (var r = 0u; r < SIDE + 3; r++) {
    let pixels = filtered[(first + r) * COLUMNS + column];
    let four = taps[COLUMN_TAPS + r];
    a = fma(vec4(four.x), pixels, a);
    b = fma(vec4(four.y), pixels, b);
    c = fma(vec4(four.z), pixels, c);
    d = fma(vec4(four.w), pixels, d);
  }
  let vector = group.x * COLUMNS + column;
  let x = i32(vector * 4) - i32(item.lead);
  if (x < i32(item.out_width)) {
    let y = group.y * GROUP_ROWS + first;
    let row = item.map + ((group.z % CHANNELS) * item.out_height + y) * item.map_stride;
    write(item, row + vector, x, y, a);
    write(item, row + item.map_stride + vector, x, y + 1, b);
    write(item, row + 2 * item.map_stride + vector, x, y + 2, c);
    write(item, row + 3 * item.map_stride + vector, x, y + 3, d);
  }
}

fn write(item: Item, at: u32, x: i32, y: u32, sums: vec4<f32>) {
  if (y < item.out_height) {
    let kept = select(vec4(0f), sums * SCALE, valid_pixels(item, x, y));
    store_vector(at, bitcast<vec4<u32>>(kept));
  }
}
