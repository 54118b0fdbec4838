// A workgroup processes a group of chunks: it finds where codes begin in each chunk. In the first pass every group but
// the first of a file begins with a guess. In each later pass it begins with the last pass's end of the group before;
// it does nothing if it began there before. The reference is twin/synchronise.ts.
//
// Barriers of a workgroup order accesses of its lanes to workgroup memory. Nothing orders writes of different lanes to
// the same word of storage. So lanes hand states to each other in workgroup memory, and each word of storage is written
// once per pass.

@group(0) @binding(4) var<storage, read_write> decoded: array<Decoded>;
@group(0) @binding(5) var<storage, read_write> groups: array<Group>;
@group(0) @binding(6) var<storage, read_write> found: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> number_of_pass: u32;

var<workgroup> begins_anew: u32;
var<workgroup> changed: u32;
var<workgroup> exits: array<u32, GROUP_CHUNKS>;

@compute @workgroup_size(GROUP_CHUNKS)
fn settle(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let file = workgroup.y;
  let in_file = index_in_file(workgroup, workgroups);
  if (in_file >= files[file].groups || files[file].data_file != file) {
    return;
  }
  let group = files[file].first_group + in_file;
  let parity = number_of_pass % 2;
  let place = group * GROUP_CHUNKS + lane;
  let chunk = in_file * GROUP_CHUNKS + lane;
  let is_live = chunk < files[file].chunks && chunk <= ~atomicLoad(&found[2 * file + 1]);
  let is_first_pass = number_of_pass == 0;

  var start = GUESS;
  if (!is_first_pass && in_file > 0) {
    start = groups[group - 1].exits[1 - parity];
  }
  if (lane == 0) {
    begins_anew = u32(is_live && (is_first_pass || start != decoded[place].entry));
  }
  if (workgroupUniformLoad(&begins_anew) == 0) {
    if (lane == GROUP_CHUNKS - 1) {
      groups[group].exits[parity] = groups[group].exits[1 - parity];
    }
    return;
  }
  load_tables(file, lane);
  workgroupBarrier();
  var entry = GUESS;
  if (is_live) {
    load_chunk(file, group, lane);
    if (is_first_pass || lane == 0) {
      entry = select(GUESS, start, lane == 0);
      decode(entry);
    } else {
      entry = decoded[place].entry;
      exit = decoded[place].exit;
      counts = unpack_counts(decoded[place].counts, decoded[place].dc);
    }
  }
  exits[lane] = exit;
  // Each round settles at least one more chunk: it begins where the one before ends, and is decoded from there.
  for (var i = 0u; i < GROUP_CHUNKS; i++) {
    if (lane == 0) {
      changed = 0;
    }
    workgroupBarrier();
    var before = entry;
    if (lane > 0) {
      before = exits[lane - 1];
    }
    let again = is_live && before != entry;
    if (again) {
      changed = 1;
    }
    if (workgroupUniformLoad(&changed) == 0) {
      break;
    }
    if (again) {
      entry = before;
      decode(entry);
      exits[lane] = exit;
    }
  }
  if (is_live) {
    let packed = counts.restarts | (counts.blocks << 6) | (counts.entries << 16);
    decoded[place] = Decoded(entry, exit, packed, counts.dc, Counts());
  }
  if (lane == GROUP_CHUNKS - 1) {
    groups[group].exits[parity] = exit;
  }
}

// For files that use the chunks of another file: codes begin where the other file found them, but the counts differ.
@compute @workgroup_size(GROUP_CHUNKS)
fn recount(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let file = workgroup.y;
  let in_file = index_in_file(workgroup, workgroups);
  if (in_file >= files[file].groups || files[file].data_file == file) {
    return;
  }
  load_tables(file, lane);
  workgroupBarrier();
  let chunk = in_file * GROUP_CHUNKS + lane;
  if (chunk >= files[file].chunks || chunk > ~atomicLoad(&found[2 * files[file].data_file + 1])) {
    return;
  }
  let source = data_group(file, in_file);
  let entry = decoded[source * GROUP_CHUNKS + lane].entry;
  load_chunk(file, source, lane);
  decode(entry);
  let packed = counts.restarts | (counts.blocks << 6) | (counts.entries << 16);
  let place = (files[file].first_group + in_file) * GROUP_CHUNKS + lane;
  decoded[place] = Decoded(entry, exit, packed, counts.dc, Counts());
}

// Only counts are wanted.
fn wants_block(at: u32, limit: u32) -> bool {
  return true;
}
fn restart() {}
fn begin_block(is_luma: bool, difference: i32) {}
fn put(place: u32, value: i32) {}
fn bad() {}
