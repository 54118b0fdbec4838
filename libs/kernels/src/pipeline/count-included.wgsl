// Counts a dense result without its excluded pixels, and gives these their value. Comes after item.wgsl, map.wgsl or
// no-map.wgsl, and histogram.wgsl or no-histogram.wgsl. It reads what any kernel wrote, so no kernel knows of excluded
// pixels. The reference is countIncluded in count-included.ts.
//
// `planes` are the planes of excluded pixels, as words of 32 bits. An item is one channel of a part of a dense result:
//
//     src, src_stride          the channel's plane: its first word, and words a row; src is NO_PLANE if there is none
//     out_…                    the part, in the dense result
//     valid_…                  the pixels of the part that have a result, relative to it
//     map, map_stride, lead    the channel's band, as the kernel wrote it
//
// dispatch: x = ceil(words of a row / 64), y = ceil(rows / 4) of the largest item, z = items.

override SAMPLE_BYTES: u32 = 1;
// Types of samples that are not unsigned.
override IS_SIGNED: bool = false;
override IS_REAL: bool = false;
// The bits of an excluded sample.
override EXCLUDED: u32 = 0;
override COUNTS: bool = false;
// As in Binning: the width of a bin, for f32 and for integers, and the lower end of the first bin, in widths.
override REAL_STEP: f32 = 1;
override WHOLE_STEP: i32 = 1;
override BIN_FIRST: i32 = 0;
override BIN_LAST: i32 = 0;

const LANES_X = 64u;
const LANES_Y = 4u;
const NO_PLANE = 0xffffffffu;

// The words of map.wgsl. Lanes of neighbouring parts may change samples of the same word.
@group(0) @binding(3) var<storage, read_write> result_words: array<atomic<u32>>;

// A lane has the samples of one word.
@compute @workgroup_size(LANES_X, LANES_Y)
fn count_included(
  @builtin(global_invocation_id) at: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let item = items[group.z];
  let samples = 4 / SAMPLE_BYTES;
  let word = (item.lead + item.out_x) / samples + at.x;
  // The first sample of the word, in the part.
  let first = i32(word * samples) - i32(item.lead) - i32(item.out_x);
  if (first < i32(item.out_width) && at.y < item.out_height) {
    let place = 4 * (item.map + (item.out_y + at.y) * item.map_stride) + word;
    let bits = atomicLoad(&result_words[place]);
    let is_row = at.y >= item.valid_y0 && at.y < item.valid_y1;
    var excluded = 0u;
    // Samples of the same bin are counted together.
    var bin = 0u;
    var times = 0u;
    for (var k = 0u; k < samples; k++) {
      let x = first + i32(k);
      if (x < 0 || x >= i32(item.out_width)) {
        continue;
      }
      if (is_excluded(item, item.out_x + u32(x), item.out_y + at.y)) {
        excluded |= sample_mask() << (8 * SAMPLE_BYTES * k);
        continue;
      }
      if (COUNTS && is_row && x >= i32(item.valid_x0) && x < i32(item.valid_x1)) {
        let own = bin_of(bits >> (8 * SAMPLE_BYTES * k));
        if (times > 0 && own != bin) {
          count(group.z, local, bin, times);
          times = 0;
        }
        bin = own;
        times++;
      }
    }
    if (times > 0) {
      count(group.z, local, bin, times);
    }
    if (excluded != 0) {
      atomicAnd(&result_words[place], ~excluded);
      if (EXCLUDED != 0) {
        atomicOr(&result_words[place], excluded & EXCLUDED);
      }
    }
  }
  add_counts(group.z, local, LANES_X * LANES_Y);
}

// Whether a pixel of the dense result is excluded.
fn is_excluded(item: Item, x: u32, y: u32) -> bool {
  return item.src != NO_PLANE && ((word_at(item.src + y * item.src_stride + x / 32) >> (x % 32)) & 1) != 0;
}

// The bits of the first sample of a word. A shift by 32 is undefined.
fn sample_mask() -> u32 {
  return select((1u << ((8 * SAMPLE_BYTES) % 32)) - 1, 0xffffffffu, SAMPLE_BYTES == 4);
}

// The bin of the first sample of a word, as binOf in binning.ts.
fn bin_of(word: u32) -> u32 {
  if (IS_REAL) {
    let place = floor(bitcast<f32>(word) * (1 / REAL_STEP)) - f32(BIN_FIRST);
    return u32(clamp(place, 0f, f32(BIN_LAST)));
  }
  let bits = word & sample_mask();
  let value = select(i32(bits), i32(bits << 16) >> 16, IS_SIGNED);
  // Dividends are not negative, because the division of negative integers rounds towards 0.
  return u32(min(max(value - BIN_FIRST * WHOLE_STEP, 0) / WHOLE_STEP, BIN_LAST));
}
