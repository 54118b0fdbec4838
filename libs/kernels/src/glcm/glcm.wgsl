// Gray-Level Co-occurrence Matrices over a batch of planes: a band of codes and a matrix for each offset, in one pass.
//
// A lane makes the codes of 16 pixels of a row, for each offset of its workgroup. It reads the partners where they lie:
// lanes around it have just read the same vectors. So the workgroup's memory is free for matrices, which are large:
// four of 32 levels, or one of 64, fill the 16 KiB that every device has. A workgroup has some of the offsets; the
// others are computed by workgroups of their own.
//
// dispatch: x = ceil(width / (LANES_X * 16)), y = ceil(height / (LANES_Y * STRIPS)) of the largest item, z = items
// times groups of offsets.

override LANES_X: u32 = 8;
override LANES_Y: u32 = 32;
override STRIPS: u32 = 4;
override LEVELS: u32 = 32;
// Offsets of a workgroup, and groups of offsets of an item.
override OFFSETS: u32 = 4;
override OFFSET_GROUPS: u32 = 1;
// 1 or 2.
override SAMPLE_BYTES: u32 = 2;

const LANE_PIXELS = 16u;

// Columns and rows from a pixel to its partner, by offset.
@group(0) @binding(4) var<uniform> steps: array<vec4<i32>, 16>;

@compute @workgroup_size(LANES_X, LANES_Y)
fn glcm(
  @builtin(local_invocation_id) lane: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let item = items[group.z / OFFSET_GROUPS];
  let first = group.z % OFFSET_GROUPS * OFFSETS;
  let column = group.x * LANES_X + lane.x;
  let x = i32(column * LANE_PIXELS) - i32(item.lead);
  for (var strip = 0u; strip < STRIPS; strip++) {
    let y = (group.y * STRIPS + strip) * LANES_Y + lane.y;
    if (x >= i32(item.out_width) || y >= item.out_height) {
      break;
    }
    // The first round reads the pixels, the others read their partners: software devices compile functions wherever
    // they are called.
    var own = vec4(0u);
    for (var i = 0u; i <= OFFSETS; i++) {
      let step = select(steps[first + max(i, 1) - 1].xy, vec2(0), i == 0);
      let levels = levels_of_16(item, i32(item.out_x) + x + step.x, i32(item.out_y + y) + step.y);
      if (i == 0) {
        own = levels;
        continue;
      }
      let paired = paired_pixels(item, x, y, step);
      let codes = codes_of(own, levels, paired);
      write_codes(item, column, y, first + i - 1, codes);
      count_codes(group.z, local, (i - 1) * LEVELS * LEVELS, codes, paired);
    }
  }
  put_counts(group.z, local, LANES_X * LANES_Y, groups);
}

// Levels of pixels x … x + 15 of a row of the stored plane, a byte each; any of them may be outside it.
fn levels_of_16(item: Item, x: i32, y: i32) -> vec4<u32> {
  let is_inside = x >= 0 && x + i32(LANE_PIXELS) <= i32(item.stored_width) && y >= 0 && y < i32(item.stored_height);
  if (PIXEL_BYTES == 1 && is_inside) {
    return levels_of(vector_at(row_of(item, 0, y) + u32(x + i32(item.lead) - i32(item.out_x))));
  }
  var levels = vec4(0u);
  for (var k = 0; k < 4; k++) {
    levels[k] = levels_of_4(item, x + 4 * k, y);
  }
  return levels;
}

fn levels_of_4(item: Item, x: i32, y: i32) -> u32 {
  if (PIXEL_BYTES == 1) {
    return levels_of(vec4(pixels4(item, 0, x, y))).x;
  }
  return pack4xU8((four_pixels(item, 0, x, y) * LEVELS) >> vec4(16u));
}

// Levels of bytes. Two bytes are multiplied at once, in the halves of a word: products are below 2^14.
fn levels_of(pixels: vec4<u32>) -> vec4<u32> {
  let even = ((pixels & vec4(0x00ff00ffu)) * LEVELS) >> vec4(8u);
  let odd = ((pixels >> vec4(8u)) & vec4(0x00ff00ffu)) * LEVELS;
  return (even & vec4(0x00ff00ffu)) | (odd & vec4(0xff00ff00u));
}

// 16 bytes from byte `at` on.
fn vector_at(at: u32) -> vec4<u32> {
  let first = planes[at / 16];
  if (at % 16 == 0) {
    return first;
  }
  let word = at / 4;
  let here = vec4(word_at(word), word_at(word + 1), word_at(word + 2), word_at(word + 3));
  let shift = 8 * (at % 4);
  if (shift == 0) {
    return here;
  }
  return (here >> vec4(shift)) | (vec4(here.yzw, word_at(word + 4)) << vec4(32 - shift));
}

// Which of a lane's pixels have a partner, as bits; without a border rule, the partner must be in the plane. The
// reference is pairedPixels in pairs.ts.
fn paired_pixels(item: Item, x: i32, y: u32, step: vec2<i32>) -> u32 {
  var left = i32(item.valid_x0);
  var right = i32(item.valid_x1);
  var top = i32(item.valid_y0);
  var bottom = i32(item.valid_y1);
  if (BORDER == INTERIOR) {
    left = max(left, -step.x - i32(item.out_x));
    right = min(right, i32(item.stored_width) - step.x - i32(item.out_x));
    top = max(top, -step.y - i32(item.out_y));
    bottom = min(bottom, i32(item.stored_height) - step.y - i32(item.out_y));
  }
  let bits = bits_below(right - x) & ~bits_below(left - x);
  return select(0u, bits, i32(y) >= top && i32(y) < bottom);
}

// Bits 0 … n - 1 of 16.
fn bits_below(n: i32) -> u32 {
  return (1u << u32(clamp(n, 0, 16))) - 1;
}

// Codes of 16 pixels, in the halves of words: of pixels 4 k and 4 k + 2 in even[k], of 4 k + 1 and 4 k + 3 in odd[k].
struct Codes {
  even: vec4<u32>,
  odd: vec4<u32>,
}

// Codes, 0 for pixels without a partner.
fn codes_of(own: vec4<u32>, partners: vec4<u32>, paired: u32) -> Codes {
  let half = vec4(0x00ff00ffu);
  let even = (own & half) * LEVELS + (partners & half);
  let odd = ((own >> vec4(8u)) & half) * LEVELS + ((partners >> vec4(8u)) & half);
  if (paired == 0xffff) {
    return Codes(even, odd);
  }
  let four = vec4(paired, paired >> 4, paired >> 8, paired >> 12);
  return Codes(even & halves_of(four, 0), odd & halves_of(four, 1));
}

// 0xffff in the halves of words: the low one by the bit `first`, the high one by the bit two further.
fn halves_of(bits: vec4<u32>, first: u32) -> vec4<u32> {
  let low = (bits >> vec4(first)) & vec4(1u);
  let high = (bits >> vec4(first + 2)) & vec4(1u);
  return low * 0xffff + high * 0xffff0000u;
}

fn write_codes(item: Item, column: u32, y: u32, band: u32, codes: Codes) {
  if (!WRITE_MAP) {
    return;
  }
  let row = item.map + (band * item.out_height + y) * item.map_stride;
  if (SAMPLE_BYTES == 1) {
    store_vector(row + column, codes.even | (codes.odd << vec4(8u)));
    return;
  }
  let first = (codes.even & vec4(0xffffu)) | (codes.odd << vec4(16u));
  let second = (codes.even >> vec4(16u)) | (codes.odd & vec4(0xffff0000u));
  store_vector(row + 2 * column, vec4(first.x, second.x, first.y, second.y));
  if (2 * column + 1 < item.map_stride) {
    store_vector(row + 2 * column + 1, vec4(first.z, second.z, first.w, second.w));
  }
}

// Counts a lane's codes, from bin `first` on. Looking for equal ones, as count_bytes does, takes longer than counting
// them (measured on an H100).
fn count_codes(histogram: u32, local: u32, first: u32, codes: Codes, paired: u32) {
  for (var k = 0u; k < 4; k++) {
    let four = vec4(codes.even[k] & 0xffff, codes.odd[k] & 0xffff, codes.even[k] >> 16, codes.odd[k] >> 16);
    if (paired == 0xffff) {
      count(histogram, local, first + four.x, 1);
      count(histogram, local, first + four.y, 1);
      count(histogram, local, first + four.z, 1);
      count(histogram, local, first + four.w, 1);
      continue;
    }
    for (var i = 0u; i < 4; i++) {
      if (((paired >> (4 * k + i)) & 1) != 0) {
        count(histogram, local, first + four[i], 1);
      }
    }
  }
}
