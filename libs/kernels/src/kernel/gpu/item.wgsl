// Comes before every kernel: bindings, the items of a batch, and pixels outside an image.
//
// Items are in z. A lane's pixels are counted from the group of 16 that holds the first column to compute. They begin
// on a boundary of 16 pixels in memory, so that lanes load whole vectors. The `lead` pixels before that column are
// ignored.
//
// Pixels have PIXEL_BYTES bytes: 1, four to a word, or 2, two to a word. Programs that do not use it are for bytes.
override PIXEL_BYTES: u32 = 1;

// Index in borderModes.
override BORDER: u32 = 5;

const ZERO = 0u;
const REPLICATE = 1u;
const REFLECT = 2u;
const MIRROR = 3u;
const WRAP = 4u;
const INTERIOR = 5u;

// Units: pixels, lanes of 16 pixels, or vectors of 16 bytes. 'valid' is relative to 'out'.
struct Item {
  src: u32,           // lane of the stored plane's row 0 that holds the first column to compute
  src_stride: u32,    // lanes a row; a channel's plane is stored_height rows
  stored_width: u32,
  stored_height: u32,
  out_x: u32,         // the part to compute, in the stored plane
  out_y: u32,
  out_width: u32,
  out_height: u32,
  valid_x0: u32,      // where results exist and count
  valid_y0: u32,
  valid_x1: u32,
  valid_y1: u32,
  map: u32,           // vector of the first result; rows begin `lead` samples into their first vector
  map_stride: u32,    // vectors a row; a band is out_height rows
  lead: u32,          // pixels between the first lane's begin and the first column to compute
  unused: u32,
}

@group(0) @binding(0) var<storage, read> planes: array<vec4<u32>>;
// Uniform, because storage is 2 % slower (measured). 1024 items are the 64 KiB that every device can bind.
@group(0) @binding(1) var<uniform> items: array<Item, 1024>;
// Bindings 2 and 3 are the histograms and the dense results: see histogram.wgsl and map.wgsl.

// The index in [0, n) whose pixel the border rule puts at i, or -1 if the pixel is 0. The reference is borderIndex in
// border.ts.
fn border_index(i: i32, n: i32) -> i32 {
  if (i >= 0 && i < n) {
    return i;
  }
  switch (BORDER) {
    case ZERO: {
      return -1;
    }
    case WRAP: {
      return modulo(i, n);
    }
    case REFLECT: {
      let k = modulo(i, 2 * n);
      return min(k, 2 * n - 1 - k);
    }
    case MIRROR: {
      let k = modulo(i, max(2 * n - 2, 1));
      return min(k, 2 * n - 2 - k);
    }
    default: {
      return clamp(i, 0, n - 1);
    }
  }
}

fn modulo(i: i32, n: i32) -> i32 {
  return ((i % n) + n) % n;
}

// The pixel at (x, y) of a channel's stored plane; (x, y) may be any distance outside it.
fn pixel(item: Item, channel: u32, x: i32, y: i32) -> u32 {
  let column = border_index(x, i32(item.stored_width));
  let row = border_index(y, i32(item.stored_height));
  if (column < 0 || row < 0) {
    return 0;
  }
  return pixel_at(row_of(item, channel, row) + u32(column + i32(item.lead) - i32(item.out_x)));
}

// Pixels x … x + 3 of a row; any of them may be outside the stored plane.
fn four_pixels(item: Item, channel: u32, x: i32, y: i32) -> vec4<u32> {
  if (PIXEL_BYTES == 1) {
    return unpack4xU8(pixels4(item, channel, x, y));
  }
  let row = border_index(y, i32(item.stored_height));
  if (row >= 0 && x >= 0 && x + 3 < i32(item.stored_width)) {
    let at = row_of(item, channel, row) + u32(x + i32(item.lead) - i32(item.out_x));
    return vec4(pixel_at(at), pixel_at(at + 1), pixel_at(at + 2), pixel_at(at + 3));
  }
  var four = vec4(0u);
  for (var k = 0; k < 4; k++) {
    four[k] = pixel(item, channel, x + k, y);
  }
  return four;
}

// Four pixels from `at` on, a multiple of four.
fn aligned_pixels(at: u32) -> vec4<u32> {
  if (PIXEL_BYTES == 2) {
    let words = vec2(word_at(at / 2), word_at(at / 2 + 1));
    return vec4(words.x & 0xffff, words.x >> 16, words.y & 0xffff, words.y >> 16);
  }
  return unpack4xU8(word_at(at / 4));
}

// Four bytes as a word: pixels x … x + 3 of a row, the first one in the low byte; any of them may be outside the stored
// plane.
fn pixels4(item: Item, channel: u32, x: i32, y: i32) -> u32 {
  let row = border_index(y, i32(item.stored_height));
  if (row >= 0 && x >= 0 && x + 3 < i32(item.stored_width)) {
    let at = row_of(item, channel, row) + u32(x + i32(item.lead) - i32(item.out_x));
    let shift = 8 * (at % 4);
    // If the first word holds all four, the next one is not needed, and a shift by 32 would be undefined.
    let high = select(word_at(at / 4 + 1) << ((32 - shift) % 32), 0u, shift == 0);
    return (word_at(at / 4) >> shift) | high;
  }
  return pixel(item, channel, x, y) | (pixel(item, channel, x + 1, y) << 8)
    | (pixel(item, channel, x + 2, y) << 16) | (pixel(item, channel, x + 3, y) << 24);
}

// The index of the first pixel of a row's first lane.
fn row_of(item: Item, channel: u32, row: i32) -> u32 {
  return 16 * (item.src + (channel * item.stored_height + u32(row)) * item.src_stride);
}

fn word_at(word: u32) -> u32 {
  return planes[word / 4][word % 4];
}

fn pixel_at(at: u32) -> u32 {
  if (PIXEL_BYTES == 2) {
    return (word_at(at / 2) >> (16 * (at % 2))) & 0xffff;
  }
  return byte_at(at);
}

fn byte_at(byte: u32) -> u32 {
  return (word_at(byte / 4) >> (8 * (byte % 4))) & 0xff;
}

// Which of pixels x … x + 3 of row y, relative to `out`, have a result.
fn valid_pixels(item: Item, x: i32, y: u32) -> vec4<bool> {
  let columns = vec4(x) + vec4(0, 1, 2, 3);
  let inside = (columns >= vec4(i32(item.valid_x0))) & (columns < vec4(i32(item.valid_x1)));
  return inside & vec4(y >= item.valid_y0 && y < item.valid_y1);
}

// The same as a word: 0xff in the bytes of pixels with a result.
fn valid_word(item: Item, x: i32, y: u32) -> u32 {
  return pack4xU8(select(vec4(0u), vec4(0xffu), valid_pixels(item, x, y)));
}

// The same for 16 pixels, all at once.
fn valid_vector(item: Item, x: i32, y: u32) -> vec4<u32> {
  let columns = bytes_below(i32(item.valid_x1) - x) & ~bytes_below(i32(item.valid_x0) - x);
  return select(vec4(0u), columns, y >= item.valid_y0 && y < item.valid_y1);
}

// 0xff in bytes 0 … n-1 of 16.
fn bytes_below(n: i32) -> vec4<u32> {
  let bytes = clamp(vec4(n) - vec4(0, 4, 8, 12), vec4(0), vec4(4));
  // A shift by 32 is undefined, so whole words are selected separately.
  return select((vec4(1u) << vec4<u32>(bytes * 8)) - 1, vec4(0xffffffffu), bytes == vec4(4));
}

// The number of pixels without a result that lanes of 16 pixels of `rows` rows cover. They are counted and then taken
// back: excluding them, although only lanes at edges have some, would make every lane slower. Measured on an H200 for
// LBP: 0.026 ms against 0.020.
fn excess(item: Item, rows: u32) -> u32 {
  let lanes = ((item.lead + item.out_width + 15) / 16) * ((item.out_height + rows - 1) / rows);
  return lanes * 16 * rows - (item.valid_x1 - item.valid_x0) * (item.valid_y1 - item.valid_y0);
}
