// A workgroup processes GROUP_BLOCKS blocks of luma: it dequantises them, transforms columns and rows, 8 lanes a block,
// and writes pixels. The references are twin/inverse-dct.ts and twin/write-pixels.ts.
//
// Neighbouring lanes process neighbouring blocks, which are side by side in the image. So they write whole rows of it,
// and never meet in a bank of workgroup memory.

@group(0) @binding(0) var<storage, read> files: array<File>;
@group(0) @binding(1) var<storage, read> tables: array<u32>;
@group(0) @binding(2) var<storage, read> entries: array<u32>;
@group(0) @binding(3) var<storage, read_write> planes: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> found: array<atomic<u32>>;

const LANES = 8 * GROUP_BLOCKS;
const BLOCK_WORDS = 65u;

var<workgroup> blocks: array<i32, GROUP_BLOCKS * BLOCK_WORDS>;
// For each place in zig-zag order: the quantiser in bits 0 to 15, and above it the index in a block.
var<workgroup> quantisers: array<u32, 64>;

var<private> out_of_range: bool;

@compute @workgroup_size(LANES)
fn transform(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let file = workgroup.y;
  let group = index_in_file(workgroup, workgroups);
  if (group >= files[file].block_groups) {
    return;
  }
  if (lane < 64) {
    quantisers[lane] = tables[files[file].quantisers + lane];
  }
  for (var i = lane; i < GROUP_BLOCKS * BLOCK_WORDS; i += LANES) {
    blocks[i] = 0;
  }
  workgroupBarrier();
  let start = entries[files[file].starts + group];
  // For files in doubt this may be any value.
  let end = min(entries[files[file].starts + group + 1], start + 64 * GROUP_BLOCKS);
  for (var i = start + lane; i < end; i += LANES) {
    let entry = entries[files[file].entries + i];
    let quantiser = quantisers[entry % 64];
    let block = (entry >> 6) % GROUP_BLOCKS;
    blocks[block * BLOCK_WORDS + (quantiser >> 16)] = in_range((i32(entry) >> 16) * i32(quantiser & 0xffff));
  }
  workgroupBarrier();

  let block = lane % GROUP_BLOCKS;
  let line = lane / GROUP_BLOCKS;
  let column = block * BLOCK_WORDS + line;
  let down = transform8(Eight(
    vec4(blocks[column], blocks[column + 8], blocks[column + 16], blocks[column + 24]),
    vec4(blocks[column + 32], blocks[column + 40], blocks[column + 48], blocks[column + 56]),
  ));
  blocks[column] = between(down.first.x);
  blocks[column + 8] = between(down.first.y);
  blocks[column + 16] = between(down.first.z);
  blocks[column + 24] = between(down.first.w);
  blocks[column + 32] = between(down.last.x);
  blocks[column + 40] = between(down.last.y);
  blocks[column + 48] = between(down.last.z);
  blocks[column + 56] = between(down.last.w);
  workgroupBarrier();
  let row = block * BLOCK_WORDS + 8 * line;
  let across = transform8(Eight(
    vec4(blocks[row], blocks[row + 1], blocks[row + 2], blocks[row + 3]),
    vec4(blocks[row + 4], blocks[row + 5], blocks[row + 6], blocks[row + 7]),
  ));
  let pixels = vec2(four_pixels(across.first), four_pixels(across.last));

  let of_mcu = files[file].luma_across * files[file].luma_down;
  let number = group * GROUP_BLOCKS + block;
  let is_skipped = number / of_mcu < files[file].skipped_mcus;
  let mcu = number / of_mcu - files[file].skipped_mcus;
  let in_mcu = number % of_mcu;
  let x = (mcu % files[file].mcus_across) * files[file].luma_across + in_mcu % files[file].luma_across;
  let y = 8 * ((mcu / files[file].mcus_across) * files[file].luma_down + in_mcu / files[file].luma_across) + line;
  if (!is_skipped && 8 * x < files[file].width && y < files[file].height) {
    planes[files[file].plane + y * files[file].stride + x] = pixels;
  }
  if (out_of_range && number < (files[file].blocks / files[file].mcu_blocks) * of_mcu) {
    atomicOr(&found[2 * file], OUT_OF_RANGE);
  }
}

fn in_range(value: i32) -> i32 {
  out_of_range |= abs(value) > GREATEST_INPUT;
  return value;
}

// A result of the column transform, with two fractional bits.
fn between(sum: i32) -> i32 {
  return in_range((sum + (1 << 10)) >> 11);
}

// Results of the row transform: transforming in two directions multiplies by 8.
fn four_pixels(sums: vec4<i32>) -> u32 {
  let pixels = (sums + (1 << 17)) >> vec4(18u);
  out_of_range |= any(pixels < vec4(-GREATEST_PIXEL - 1)) || any(pixels > vec4(GREATEST_PIXEL));
  return pack4xU8Clamp(vec4<u32>(clamp(pixels + 128, vec4(0), vec4(255))));
}

// Eight values in order.
struct Eight {
  first: vec4<i32>,
  last: vec4<i32>,
}

// The 8-point transform, with 13 fractional bits. Intermediate products and sums may exceed 32 bits: they wrap, and the
// results wrap back.
fn transform8(x: Eight) -> Eight {
  let turn = (x.first.z + x.last.z) * C0541;
  let low = turn - x.last.z * C1847;
  let high = turn + x.first.z * C0765;
  let sum = (x.first.x + x.last.x) << 13;
  let difference = (x.first.x - x.last.x) << 13;
  let even = vec4(sum + high, difference + low, difference - low, sum - high);

  let seven_and_three = x.last.w + x.first.w;
  let five_and_one = x.last.y + x.first.y;
  let both = (seven_and_three + five_and_one) * C1175;
  let outer = (x.last.w + x.first.y) * -C0899;
  let inner = (x.last.y + x.first.w) * -C2562;
  let seven_three = seven_and_three * -C1961 + both;
  let five_one = five_and_one * -C0390 + both;
  let odd = vec4(
    x.first.y * C1501 + outer + five_one,
    x.first.w * C3072 + inner + seven_three,
    x.last.y * C2053 + inner + five_one,
    x.last.w * C0298 + outer + seven_three,
  );
  return Eight(even + odd, (even - odd).wzyx);
}
