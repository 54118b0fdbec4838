// Comes after item.wgsl: a group's pixels with their halo as bytes in workgroup memory, loaded in whole vectors.
//
// The tile begins a vector (16 pixels) before the first one that the group computes, and ends a vector after the last:
// no halo is wider. Word w of vector v is at `(w % 4) * TILE_VECTORS + v` of its row, so that lanes, which are vectors
// apart, read words in different memory banks.
//
// TILED = false leaves the pixels in global memory, where lanes read each word. It exists to measure what the tile
// saves.

// Side of the matrix, odd.
override SIDE: u32 = 3;
override HALO: u32 = (SIDE - 1) / 2;
// Vectors that a group computes in x, and rows in y.
override GROUP_VECTORS: u32 = 16;
override GROUP_ROWS: u32 = 16;
// Length of a row in each of the tile's four planes, in words: at least GROUP_VECTORS + 2.
override TILE_VECTORS: u32 = 20;
override TILE_ROWS: u32 = GROUP_ROWS + SIDE - 1;
// Lanes of a group.
override THREADS: u32 = 256;
override CHANNELS: u32 = 1;
override TILED: bool = true;

// A lane's first tap is at pixel TAP_BEGIN of word TAP_WORD, counted from the vector before the lane's own. Taps are
// taken in groups of four pixels, a word each. The first group may have pixels before the matrix, the last after it.
override TAP_WORD: u32 = (16 - HALO) / 4;
override TAP_BEGIN: u32 = (16 - HALO) % 4;
override TAP_GROUPS: u32 = (TAP_BEGIN + SIDE + 3) / 4;
override TAP_END: u32 = TAP_BEGIN + SIDE - 4 * (TAP_GROUPS - 1);

// The most words with pixels left of the plane, and right of it: lead + halo bytes, and halo bytes, beginning anywhere
// in a word.
const LEFT_WORDS = 8u;
const RIGHT_WORDS = 5u;

// With 16-bit pixels the tile is two such planes: one has the first two of every four pixels, the other the last two.
override PLANE_WORDS: u32 = TILE_ROWS * 4 * TILE_VECTORS;
override TILE_WORDS: u32 = select(1u, PLANE_WORDS * PIXEL_BYTES, TILED);
var<workgroup> tile: array<u32, TILE_WORDS>;

// Read in place of a tile if TILED is false.
struct Source {
  item: Item,
  channel: u32,
  // The stored column and row of the tile's first byte.
  first: vec2<i32>,
}
var<private> source: Source;

// Fills the tile of a group and waits for it. `local` is the lane's index in the group.
fn load_tile(item: Item, channel: u32, group: vec2<u32>, local: u32) {
  // The stored column and row of the tile's first byte.
  let first = i32(item.out_x + group.x * GROUP_VECTORS * 16) - i32(item.lead) - 16;
  let first_row = i32(item.out_y + group.y * GROUP_ROWS) - i32(HALO);
  if (!TILED) {
    source = Source(item, channel, vec2(first, first_row));
    return;
  }
  let vectors = GROUP_VECTORS + 2;
  if (PIXEL_BYTES == 2) {
    for (var i = local; i < TILE_ROWS * 4 * vectors; i += THREADS) {
      let row = i / (4 * vectors);
      let word = i % (4 * vectors);
      let four = four_pixels(item, channel, first + i32(4 * word), first_row + i32(row));
      let at = (row * 4 + word % 4) * TILE_VECTORS + word / 4;
      tile[at] = four.x | (four.y << 16);
      tile[at + PLANE_WORDS] = four.z | (four.w << 16);
    }
    workgroupBarrier();
    return;
  }
  for (var i = local; i < TILE_ROWS * vectors; i += THREADS) {
    let row = i / vectors;
    let vector = i % vectors;
    let y = border_index(first_row + i32(row), i32(item.stored_height));
    var pixels = vec4(0u);
    if (y >= 0) {
      // Before the first vector of the buffer this reads some other vector; its pixels are replaced below.
      let start = item.src + (channel * item.stored_height + u32(y)) * item.src_stride;
      pixels = planes[start + group.x * GROUP_VECTORS + vector - 1];
    }
    let at = row * 4 * TILE_VECTORS + vector;
    tile[at] = pixels.x;
    tile[at + TILE_VECTORS] = pixels.y;
    tile[at + 2 * TILE_VECTORS] = pixels.z;
    tile[at + 3 * TILE_VECTORS] = pixels.w;
  }
  workgroupBarrier();

  // The first byte right of the plane.
  let end = i32(item.stored_width) - first;
  let has_left = first + 16 < i32(HALO);
  let has_right = end < i32(16 * (GROUP_VECTORS + 1) + HALO);
  if (has_left || has_right) {
    let right = u32(max(end, 0)) / 4;
    for (var i = local; i < TILE_ROWS * (LEFT_WORDS + RIGHT_WORDS); i += THREADS) {
      let row = i / (LEFT_WORDS + RIGHT_WORDS);
      let slot = i % (LEFT_WORDS + RIGHT_WORDS);
      let is_left = slot < LEFT_WORDS;
      let word = select(right + slot - LEFT_WORDS, slot, is_left);
      let is_first = is_left || !has_left || word >= LEFT_WORDS;
      if (select(has_right, has_left, is_left) && is_first && word < 4 * vectors) {
        let at = (row * 4 + word % 4) * TILE_VECTORS + word / 4;
        tile[at] = edge_word(item, channel, first + i32(4 * word), first_row + i32(row));
      }
    }
  }
  workgroupBarrier();
}

// Pixels x … x + 3 of a row of the plane; any of them may be outside it. They are read one at a time, which few lanes
// do: pixels4 of item.wgsl takes four times as long to compile, half a second on SwiftShader.
fn edge_word(item: Item, channel: u32, x: i32, y: i32) -> u32 {
  let row = border_index(y, i32(item.stored_height));
  var word = 0u;
  for (var k = 0; k < 4 && row >= 0; k++) {
    let column = border_index(x + k, i32(item.stored_width));
    if (column >= 0) {
      let byte = byte_at(row_of(item, channel, row) + u32(column + i32(item.lead) - i32(item.out_x)));
      word |= byte << u32(8 * k);
    }
  }
  return word;
}

// Four pixels of a row of the tile; `word` is counted from the vector before the lane's own.
fn tile_word(row: u32, lane: u32, word: u32) -> u32 {
  if (!TILED) {
    return source_word(source.first.x + i32(16 * lane + 4 * word), source.first.y + i32(row));
  }
  return tile[(row * 4 + word % 4) * TILE_VECTORS + lane + word / 4];
}

// Pixels x … x + 3 of row y of the plane; x begins a word of memory.
fn source_word(x: i32, y: i32) -> u32 {
  let item = source.item;
  if (x >= 0 && x + 4 <= i32(item.stored_width) && y >= 0 && y < i32(item.stored_height)) {
    return word_at((row_of(item, source.channel, y) + u32(x + i32(item.lead) - i32(item.out_x))) / 4);
  }
  return edge_word(item, source.channel, x, y);
}

// The same as a vector.
fn tile_pixels(row: u32, lane: u32, word: u32) -> vec4<u32> {
  if (PIXEL_BYTES == 2) {
    let at = (row * 4 + word % 4) * TILE_VECTORS + lane + word / 4;
    let words = vec2(tile[at], tile[at + PLANE_WORDS]);
    return vec4(words.x & 0xffff, words.x >> 16, words.y & 0xffff, words.y >> 16);
  }
  return unpack4xU8(tile_word(row, lane, word));
}

fn tile_reals(row: u32, lane: u32, word: u32) -> vec4<f32> {
  return vec4<f32>(tile_pixels(row, lane, word));
}
