// A workgroup a group of chunks: finds out where codes begin in each of them. In the first pass every group but the first of a file
// begins with a guess; in each later one with what the group before came to in the last pass, and does nothing where it has done that
// before. twin/synchronise.ts is the reference.

@group(0) @binding(4) var<storage, read_write> decoded: array<Decoded>;
@group(0) @binding(5) var<storage, read_write> groups: array<Group>;
@group(0) @binding(6) var<storage, read_write> found: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> number_of_pass: u32;

// The states that chunks were decoded from, and those at their ends.
var<workgroup> entries: array<u32, GROUP_CHUNKS>;
var<workgroup> exits: array<u32, GROUP_CHUNKS>;
// Chunks that are to be decoded again, and in how many of them, counted and then known to all.
var<workgroup> queue: array<vec2<u32>, GROUP_CHUNKS>;
var<workgroup> queued: atomic<u32>;
var<workgroup> again: u32;

@compute @workgroup_size(GROUP_CHUNKS)
fn settle(
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
  let parity = number_of_pass % 2;
  let chunk = in_file * GROUP_CHUNKS + lane;
  let is_live = chunk < files[file].chunks && chunk <= ~atomicLoad(&found[2 * file + 1]);
  let is_first_pass = number_of_pass == 0;

  var start = GUESS;
  if (!is_first_pass && in_file > 0) {
    start = groups[group - 1].exits[1 - parity];
  }
  if (lane == 0) {
    again = u32(is_live && (is_first_pass || start != decoded[group * GROUP_CHUNKS].entry));
    groups[group].exits[parity] = groups[group].exits[1 - parity];
  }
  if (workgroupUniformLoad(&again) == 0) {
    return;
  }
  load_tables(file, lane);
  workgroupBarrier();
  if (is_live) {
    if (is_first_pass) {
      decode_again(file, group, lane, GUESS);
    } else {
      entries[lane] = decoded[group * GROUP_CHUNKS + lane].entry;
      exits[lane] = decoded[group * GROUP_CHUNKS + lane].exit;
    }
  }
  // Each time at least one more chunk begins where the one before ends. Those that do not are decoded by the first lanes, so that
  // few of them keep few lanes busy.
  for (var i = 0u; i < GROUP_CHUNKS; i++) {
    workgroupBarrier();
    if (is_live) {
      var entry = start;
      if (lane > 0) {
        entry = exits[lane - 1];
      }
      if (entry != entries[lane]) {
        queue[atomicAdd(&queued, 1u)] = vec2(lane, entry);
      }
    }
    workgroupBarrier();
    if (lane == 0) {
      again = atomicExchange(&queued, 0u);
    }
    let count = workgroupUniformLoad(&again);
    if (count == 0) {
      break;
    }
    if (lane < count) {
      decode_again(file, group, queue[lane].x, queue[lane].y);
    }
  }
  if (lane == GROUP_CHUNKS - 1) {
    groups[group].exits[parity] = exits[lane];
  }
}

fn decode_again(file: u32, group: u32, chunk: u32, entry: u32) {
  load_chunk(file, group, chunk);
  decode(entry);
  entries[chunk] = entry;
  exits[chunk] = exit;
  let packed = counts.restarts | (counts.blocks << 6) | (counts.entries << 16);
  decoded[group * GROUP_CHUNKS + chunk] = Decoded(entry, exit, packed, counts.dc, Counts());
}

// Only what is counted is wanted.
fn wants_block(at: u32, limit: u32) -> bool {
  return true;
}
fn restart() {}
fn begin_block(is_luma: bool, difference: i32) {}
fn put(place: u32, value: i32) {}
fn bad() {}
