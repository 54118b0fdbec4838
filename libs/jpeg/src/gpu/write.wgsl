// A lane processes a chunk whose beginning, and the counts before it, are now known: it writes the coefficients of
// luma. The reference is twin/write-entries.ts.

@group(0) @binding(4) var<storage, read> decoded: array<Decoded>;
@group(0) @binding(5) var<storage, read> groups: array<Group>;
@group(0) @binding(6) var<storage, read_write> entries: array<u32>;
@group(0) @binding(7) var<storage, read_write> found: array<atomic<u32>>;

var<private> blocks: u32;
var<private> restart_blocks: u32;
var<private> restart_number: u32;
var<private> first_entry: u32;
var<private> most_entries: u32;
var<private> first_start: u32;
var<private> block_groups: u32;

var<private> result: u32;
// The indexes of the next block, luma block and entry; and the blocks since the last restart marker.
var<private> next_block: u32;
var<private> next_luma: u32;
var<private> next_entry: u32;
var<private> since: u32;
var<private> restarts: u32;
var<private> restarts_before: u32;
var<private> dc: i32;

@compute @workgroup_size(GROUP_CHUNKS)
fn write(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let file = workgroup.y;
  let in_file = index_in_file(workgroup, workgroups);
  if (in_file >= files[file].groups) {
    return;
  }
  let group = files[file].first_group + in_file;
  let chunk = in_file * GROUP_CHUNKS + lane;
  load_tables(file, lane);
  workgroupBarrier();
  if (chunk >= files[file].chunks || chunk > ~atomicLoad(&found[2 * files[file].data_file + 1])) {
    return;
  }
  load_chunk(file, data_group(file, in_file), lane);
  blocks = files[file].blocks;
  restart_blocks = files[file].restart_blocks;
  restart_number = files[file].first_restart;
  first_entry = files[file].entries;
  most_entries = files[file].most_entries;
  first_start = files[file].starts;
  block_groups = files[file].block_groups;

  let own = decoded[group * GROUP_CHUNKS + lane];
  let before = add_counts(groups[group].before, own.before);
  next_block = before.restarts * restart_blocks + before.blocks;
  since = before.blocks;
  restarts = before.restarts;
  restarts_before = restarts;
  next_entry = before.entries;
  dc = i32(before.dc);
  let is_between = ((own.entry >> 8) & 63) == 0;
  // The last block is in an earlier chunk.
  if (is_between && next_block >= blocks) {
    return;
  }
  let in_mcu = max(next_block % mcu_blocks, luma_first) - luma_first;
  next_luma = (next_block / mcu_blocks) * luma_blocks + min(in_mcu, luma_blocks);
  let current = next_block - u32(!is_between);
  doubt(odd || current % mcu_blocks != own.entry >> 16, OUT_OF_ORDER);
  decode(own.entry);
  if (result != 0) {
    atomicOr(&found[2 * file], result);
  }
}

fn doubt(is_doubtful: bool, why: u32) {
  result |= select(0u, why, is_doubtful);
}

fn wants_block(at: u32, limit: u32) -> bool {
  if (next_block < blocks) {
    return true;
  }
  let is_end = limit == 8 * end && limit - at < 8;
  result |= select(OUT_OF_ORDER, COMPLETE, is_end);
  entries[first_start + block_groups] = next_entry;
  return false;
}

fn restart() {
  let number = (first_restart + restarts - restarts_before) & 7;
  doubt(number != ((restart_number + restarts) & 7), OUT_OF_ORDER);
  restarts++;
  doubt(next_block != restarts * restart_blocks, OUT_OF_ORDER);
  dc = 0;
  since = 0;
}

fn begin_block(is_luma: bool, difference: i32) {
  doubt(restart_blocks > 0 && since >= restart_blocks, OUT_OF_ORDER);
  next_block++;
  since++;
  if (!is_luma) {
    return;
  }
  dc += difference;
  doubt(abs(dc) > GREATEST_DC, OUT_OF_RANGE);
  if (next_luma % GROUP_BLOCKS == 0) {
    entries[first_start + next_luma / GROUP_BLOCKS] = next_entry;
  }
  next_luma++;
  put(0, dc);
}

fn put(place: u32, value: i32) {
  let is_inside = next_entry < most_entries;
  if (is_inside) {
    entries[first_entry + next_entry] = place | (((next_luma - 1) % GROUP_BLOCKS) << 6) | u32(value << 16);
  }
  doubt(!is_inside, OUT_OF_ORDER);
  next_entry++;
}

fn bad() {
  result |= BAD_CODE;
}
