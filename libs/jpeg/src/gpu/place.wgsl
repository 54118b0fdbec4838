// Adds up the counts of chunks and groups, so that each knows the counts before it. The reference is twin/place.ts.

@group(0) @binding(0) var<storage, read> files: array<File>;
@group(0) @binding(1) var<storage, read_write> decoded: array<Decoded>;
@group(0) @binding(2) var<storage, read_write> groups: array<Group>;
@group(0) @binding(3) var<storage, read_write> found: array<atomic<u32>>;

var<workgroup> sums: array<Counts, GROUP_CHUNKS>;

// A workgroup processes a group: the counts before each of its chunks, and the sum of all. It also checks that the
// group begins where the one before ended.
@compute @workgroup_size(GROUP_CHUNKS)
fn place_chunks(
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
  let place = group * GROUP_CHUNKS + lane;
  let chunk = in_file * GROUP_CHUNKS + lane;
  let data_file = files[file].data_file;
  let is_live = chunk < files[file].chunks && chunk <= ~atomicLoad(&found[2 * data_file + 1]);
  var own = Counts();
  if (is_live) {
    own = unpack_counts(decoded[place].counts, decoded[place].dc);
    // A file that uses another's chunks begins where that one does, so only the other is checked.
    let is_first = lane == 0 && in_file > 0 && data_file == file;
    if (is_first && groups[group - 1].exits[(SETTLE_PASSES - 1) % 2] != decoded[place].entry) {
      atomicOr(&found[2 * file], UNSETTLED);
    }
  }
  add_up(lane, own);
  if (lane > 0) {
    decoded[place].before = sums[lane - 1];
  } else {
    decoded[place].before = Counts();
    groups[group].total = sums[GROUP_CHUNKS - 1];
  }
}

// A workgroup processes a file: the counts before each group.
@compute @workgroup_size(GROUP_CHUNKS)
fn place_groups(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = files[workgroup.y].first_group;
  let count = files[workgroup.y].groups;
  var before = Counts();
  for (var i = 0u; i < count; i += GROUP_CHUNKS) {
    var own = Counts();
    if (i + lane < count) {
      own = groups[first + i + lane].total;
    }
    add_up(lane, own);
    if (i + lane < count) {
      var place = before;
      if (lane > 0) {
        place = add_counts(before, sums[lane - 1]);
      }
      groups[first + i + lane].before = place;
    }
    before = add_counts(before, sums[GROUP_CHUNKS - 1]);
    workgroupBarrier();
  }
}

// Leaves in sums[i] the sum of the counts of lanes 0 to i.
fn add_up(lane: u32, own: Counts) {
  sums[lane] = own;
  workgroupBarrier();
  for (var reach = 1u; reach < GROUP_CHUNKS; reach *= 2) {
    var sum = sums[lane];
    if (lane >= reach) {
      sum = add_counts(sums[lane - reach], sum);
    }
    workgroupBarrier();
    sums[lane] = sum;
    workgroupBarrier();
  }
}
