// Copies ranges of the figures, LANES for each range, one after another. A range is where it begins, and how many of
// these figures it has.

@group(0) @binding(0) var<storage, read> figures: array<f32>;
@group(0) @binding(1) var<storage, read> ranges: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> copied: array<f32>;

const LANES = 64u;
// As in near.wgsl.
const NOTHING = -3e38;

@compute @workgroup_size(LANES)
fn copy_ranges(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) lane: u32) {
  // There may be more ranges than one row of workgroups.
  let i = group.y * groups.x + group.x;
  if (i >= arrayLength(&ranges)) { return; }
  let range = ranges[i];
  var figure = NOTHING;
  if (lane < range.y) { figure = figures[range.x + lane]; }
  copied[i * LANES + lane] = figure;
}
