// Local Derivative Pattern in four directions over a batch of planes, and its four 256-bin histograms, in one pass.
//
// A workgroup computes strips of TILE_WIDTH x LANES_Y pixels, one below the other, each in three steps:
//
// 1. Load the strip and its halo into workgroup memory, with the border rule applied, so that nothing after knows
//    borders.
// 2. Make one byte of every pixel of the strip and of a ring around it: the signs of its derivatives in the four
//    directions. Each is needed nine times.
// 3. A lane makes the codes of 16 pixels in all four directions from the bytes around them, all of it bit by bit on
//    words of four pixels, without a comparison or a multiplication.
//
// For 16-bit pixels only steps 1 and 2 differ.
//
// Counts are added to the item's at the end of all strips: 1024 additions to global memory would be too many for one
// strip.
//
// dispatch: x = ceil(width / TILE_WIDTH), y = ceil(height / (LANES_Y * STRIPS)) of the largest item, z = items.

// 2 to 6.
override ORDER: u32 = 3;
override LANES_X: u32 = 8;
override LANES_Y: u32 = 16;
override STRIPS: u32 = 4;

const LANE_PIXELS = 16u;
override TILE_WIDTH: u32 = LANES_X * LANE_PIXELS;
const BANDS = 4u;
const BAND_BINS = 256u;

// A strip's pixels: ORDER rows above it, one below, and a vector on each side. Four pixels take one word, or two.
override PIXEL_VECTORS: u32 = LANES_X + 2;
override PIXEL_STRIDE: u32 = 4 * PIXEL_VECTORS;
override PIXEL_ROWS: u32 = ORDER + LANES_Y + 1;
var<workgroup> pixels: array<u32, PIXEL_STRIDE * PIXEL_ROWS * PIXEL_BYTES>;

// A strip's signs, a byte per pixel, with one row above and one below, and a word on each side. Bit 4 + d says that the
// derivative in direction d is above 0, bit d that it is below 0. The stride is odd, so that lanes, which are four
// words apart, never meet in a memory bank.
override SIGN_WORDS: u32 = TILE_WIDTH / 4 + 2;
override SIGN_STRIDE: u32 = SIGN_WORDS + 1;
override SIGN_ROWS: u32 = LANES_Y + 2;
var<workgroup> signs: array<u32, SIGN_STRIDE * SIGN_ROWS>;

@compute @workgroup_size(LANES_X, LANES_Y)
fn ldp(
  @builtin(local_invocation_id) lane: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let item = items[group.z];
  for (var strip = 0u; strip < STRIPS; strip++) {
    let top = (group.y * STRIPS + strip) * LANES_Y;
    if (top >= item.out_height) {
      break;
    }
    load_pixels(item, local, group.x * LANES_X, top);
    workgroupBarrier();
    make_signs(local);
    workgroupBarrier();
    let column = group.x * LANES_X + lane.x;
    let x = i32(column * LANE_PIXELS) - i32(item.lead);
    let y = top + lane.y;
    if (x < i32(item.out_width) && y < item.out_height) {
      let codes = lane_codes(item, lane, x, y);
      write_codes(item, column, y, codes);
      count_vector(group.z, local, 0, codes.d0);
      count_vector(group.z, local, 1, codes.d45);
      count_vector(group.z, local, 2, codes.d90);
      count_vector(group.z, local, 3, codes.d135);
    }
  }
  if (local < BANDS && group.x == 0 && group.y == 0) {
    uncount(group.z, local, local * BAND_BINS, excess(item, 1));
  }
  put_counts(group.z, local, LANES_X * LANES_Y, groups);
}

// Step 1. `column` is the vector of the strip's left edge, `top` its first row, both relative to `out`.
fn load_pixels(item: Item, local: u32, column: u32, top: u32) {
  let left = i32(item.out_x) - i32(item.lead) + i32(column * LANE_PIXELS) - i32(LANE_PIXELS);
  let above = i32(item.out_y + top) - i32(ORDER);
  let first = item.src + column - 1;
  // Parts of a strip beyond `out` and its halo are left out: they are not needed, and the border rule takes time.
  let right = i32(item.out_x + item.out_width + ORDER);
  let bottom = i32(item.out_y + item.out_height);
  for (var i = local; i < PIXEL_VECTORS * PIXEL_ROWS; i += LANES_X * LANES_Y) {
    let vector = i % PIXEL_VECTORS;
    let x = left + i32(vector * LANE_PIXELS);
    let y = above + i32(i / PIXEL_VECTORS);
    let is_inside = PIXEL_BYTES == 1 && x >= 0 && x + i32(LANE_PIXELS) <= i32(item.stored_width) && y >= 0 && y < i32(item.stored_height);
    if (is_inside) {
      let here = planes[first + vector + u32(y) * item.src_stride];
      pixels[4 * i] = here.x;
      pixels[4 * i + 1] = here.y;
      pixels[4 * i + 2] = here.z;
      pixels[4 * i + 3] = here.w;
    } else if (x < right && y <= bottom) {
      for (var four = 4 * i; four < 4 * i + 4; four++) {
        load_four(item, four, x + i32(four % 4 * 4), y);
      }
    }
  }
}

fn load_four(item: Item, four: u32, x: i32, y: i32) {
  if (PIXEL_BYTES == 1) {
    pixels[four] = pixels4(item, 0, x, y);
    return;
  }
  let deep = four_pixels(item, 0, x, y);
  pixels[2 * four] = deep.x | (deep.y << 16);
  pixels[2 * four + 1] = deep.z | (deep.w << 16);
}

// Step 2.
fn make_signs(local: u32) {
  for (var i = local; i < SIGN_WORDS * SIGN_ROWS; i += LANES_X * LANES_Y) {
    let row = i / SIGN_WORDS;
    let word = i % SIGN_WORDS;
    // The first sign belongs to the pixel left of and above the strip, which is in the last word of the first vector.
    signs[row * SIGN_STRIDE + word] = signs_of((row + ORDER - 1) * PIXEL_STRIDE + word + 3);
  }
}

// Signs of four pixels. A derivative is the sum of the pixels along its direction, each times a binomial coefficient of
// alternating sign: 1 -2 1 for ORDER 3. It is computed for two pixels at once in the halves of a word: pixels 0 and 2
// in one word, 1 and 3 in another. The components of a vector are the four directions.
fn signs_of(at: u32) -> u32 {
  if (PIXEL_BYTES == 2) {
    return deep_signs_of(at);
  }
  let here = pixels[at];
  var even = BIAS + vec4(here & 0x00ff00ff);
  var odd = BIAS + vec4((here >> 8) & 0x00ff00ff);
  var size = 1u;
  for (var k = 1u; k < ORDER; k++) {
    size = size * (ORDER - k) / k;
    let coefficient = select(size, 0 - size, k % 2 == 1);
    let row = at - k * PIXEL_STRIDE;
    let along = vec4(pixels_right(at, k), pixels_right(row, k), pixels[row], pixels_left(row, k));
    even += coefficient * (along & vec4(0x00ff00ffu));
    odd += coefficient * ((along >> vec4(8u)) & vec4(0x00ff00ffu));
  }
  return choose(0xff00ff00u, signs_of_halves(odd), signs_of_halves(even) >> 8);
}

// For direction d, each half of a word holds 2^(12 + d) - 1 + derivative. Derivatives are at most 16 * 255, below 2^12.
// So bit 12 + d says 'above 0', no half borrows from the other, and the bits of the four directions can be combined
// without shifts.
const BIAS = vec4(0x0fff0fffu, 0x1fff1fffu, 0x3fff3fffu, 0x7fff7fffu);

// The signs of two pixels, as the high bytes of the halves. The low bytes are arbitrary.
fn signs_of_halves(biased: vec4<u32>) -> u32 {
  let above = bits_of_directions(biased);
  let below = bits_of_directions(2 * BIAS - biased);
  return choose(0xf000f000u, above, below >> 4);
}

fn bits_of_directions(biased: vec4<u32>) -> u32 {
  let first = choose(0x10001000u, biased.x, biased.y);
  let last = choose(0x40004000u, biased.z, biased.w);
  return choose(0x30003000u, first, last);
}

// The same for 16-bit pixels, direction by direction: derivatives are at most 16 * 65535.
fn deep_signs_of(at: u32) -> u32 {
  var d0 = deep_pixels(at, 0);
  var d45 = d0;
  var d90 = d0;
  var d135 = d0;
  var size = 1i;
  for (var k = 1i; k < i32(ORDER); k++) {
    size = -size * (i32(ORDER) - k) / k;
    let row = at - u32(k) * PIXEL_STRIDE;
    d0 += size * deep_pixels(at, k);
    d45 += size * deep_pixels(row, k);
    d90 += size * deep_pixels(row, 0);
    d135 += size * deep_pixels(row, -k);
  }
  return deep_signs(d0, 0) | deep_signs(d45, 1) | deep_signs(d90, 2) | deep_signs(d135, 3);
}

// The four pixels `right` pixels to the right of the word at `at`.
fn deep_pixels(at: u32, right: i32) -> vec4<i32> {
  let first = u32(i32(4 * at) + right);
  return vec4(deep_pixel(first), deep_pixel(first + 1), deep_pixel(first + 2), deep_pixel(first + 3));
}

fn deep_pixel(at: u32) -> i32 {
  return i32((pixels[at / 2] >> (16 * (at % 2))) & 0xffff);
}

fn deep_signs(derivatives: vec4<i32>, direction: u32) -> u32 {
  let above = select(vec4(0u), vec4(16u << direction), derivatives > vec4(0));
  let below = select(vec4(0u), vec4(1u << direction), derivatives < vec4(0));
  return pack4xU8(above | below);
}

// The four pixels k pixels to the right of the word at `at`.
fn pixels_right(at: u32, k: u32) -> u32 {
  return straddling(at + k / 4, k % 4);
}

fn pixels_left(at: u32, k: u32) -> u32 {
  return straddling(at - (k + 3) / 4, (4 - k % 4) % 4);
}

// Four pixels, beginning at byte `skip` of a word.
fn straddling(at: u32, skip: u32) -> u32 {
  if (skip == 0) {
    return pixels[at];
  }
  return (pixels[at] >> (8 * skip)) | (pixels[at + 1] << (32 - 8 * skip));
}

// The codes of a lane: 16 pixels in each direction. Pixels that do not count have code 0.
struct Codes {
  d0: vec4<u32>,
  d45: vec4<u32>,
  d90: vec4<u32>,
  d135: vec4<u32>,
}

// Step 3.
fn lane_codes(item: Item, lane: vec3<u32>, x: i32, y: u32) -> Codes {
  let at = lane.y * SIGN_STRIDE + 4 * lane.x;
  var codes = codes_of(sign_row(at), sign_row(at + SIGN_STRIDE), sign_row(at + 2 * SIGN_STRIDE));
  let all_columns = x >= i32(item.valid_x0) && x + i32(LANE_PIXELS) <= i32(item.valid_x1);
  if (!(all_columns && y >= item.valid_y0 && y < item.valid_y1)) {
    let mask = valid_vector(item, x, y);
    codes.d0 &= mask;
    codes.d45 &= mask;
    codes.d90 &= mask;
    codes.d135 &= mask;
  }
  return codes;
}

// Signs of 16 pixels of a row, and of the pixels left and right of each: byte k of `west` is the pixel left of byte k
// of `here`.
struct Row {
  west: vec4<u32>,
  here: vec4<u32>,
  east: vec4<u32>,
}

fn sign_row(at: u32) -> Row {
  let here = vec4(signs[at + 1], signs[at + 2], signs[at + 3], signs[at + 4]);
  let west = (here << vec4(8u)) | (vec4(signs[at], here.xyz) >> vec4(24u));
  let east = (here >> vec4(8u)) | (vec4(here.yzw, signs[at + 5]) << vec4(24u));
  return Row(west, here, east);
}

// Each pair of opposite neighbours gives a byte with the signs that each has in common with the pixel, in four
// directions. Those four bytes are transposed, in two steps, into one byte per direction with a bit for each neighbour.
// A bit is set if the product of the derivatives is above 0, so the code is the complement.
fn codes_of(above: Row, centre: Row, below: Row) -> Codes {
  let c = centre.here;
  let nw_se = agree(c, above.west, below.east);
  let n_s = agree(c, above.here, below.here);
  let ne_sw = agree(c, above.east, below.west);
  let e_w = agree(c, centre.east, centre.west);

  // Bits of each half byte: two of direction 0 or 45 next to each other (first), or two of 90 or 135 (last).
  let n_first = choose4(0x33333333u, e_w, n_s << vec4(2u));
  let n_last = choose4(0x33333333u, e_w >> vec4(2u), n_s);
  let nw_first = choose4(0x33333333u, ne_sw, nw_se << vec4(2u));
  let nw_last = choose4(0x33333333u, ne_sw >> vec4(2u), nw_se);
  return Codes(
    ~choose4(0x55555555u, n_first, nw_first << vec4(1u)),
    ~choose4(0x55555555u, n_first >> vec4(1u), nw_first),
    ~choose4(0x55555555u, n_last, nw_last << vec4(1u)),
    ~choose4(0x55555555u, n_last >> vec4(1u), nw_last),
  );
}

// The directions in which the derivatives have the same sign and are not 0: of the pixel and one neighbour in the high
// half of each byte, of the pixel and the opposite neighbour in the low half.
fn agree(c: vec4<u32>, high: vec4<u32>, low: vec4<u32>) -> vec4<u32> {
  let both_high = c & high;
  let both_low = c & low;
  return choose4(0xf0f0f0f0u, both_high | (both_high << vec4(4u)), both_low | (both_low >> vec4(4u)));
}

// Bits of a if the mask's bit is 1, otherwise bits of b.
fn choose(mask: u32, a: u32, b: u32) -> u32 {
  return (a & mask) | (b & ~mask);
}

fn choose4(mask: u32, a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
  return (a & vec4(mask)) | (b & vec4(~mask));
}

fn write_codes(item: Item, column: u32, y: u32, codes: Codes) {
  let at = item.map + y * item.map_stride + column;
  let band = item.out_height * item.map_stride;
  store_vector(at, codes.d0);
  store_vector(at + band, codes.d45);
  store_vector(at + 2 * band, codes.d90);
  store_vector(at + 3 * band, codes.d135);
}

// Counts a lane's codes in one direction. 16 equal codes are counted at once, which helps most in black frames.
fn count_vector(histogram: u32, local: u32, band: u32, codes: vec4<u32>) {
  let first = band * BAND_BINS;
  let code = codes.x & 0xff;
  if (all(codes == vec4(code * 0x01010101u))) {
    count(histogram, local, first + code, LANE_PIXELS);
  } else {
    count_bytes(histogram, local, first, codes.x);
    count_bytes(histogram, local, first, codes.y);
    count_bytes(histogram, local, first, codes.z);
    count_bytes(histogram, local, first, codes.w);
  }
}
