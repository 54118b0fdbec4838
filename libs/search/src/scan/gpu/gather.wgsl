// Copies vectors out of their bundles, one after another.

struct Gather {
  // The first of the `picks` of this shelf, and where its vectors go, in units of four words, as in near.wgsl.
  first: u32,
  into: u32,
  words: u32,
  stride: u32,
}

@group(0) @binding(0) var<storage, read> bins: array<vec4u>;
// Number of the frame in the shelf, and of the cell.
@group(0) @binding(1) var<storage, read> picks: array<vec2u>;
@group(0) @binding(2) var<uniform> gather: Gather;
@group(0) @binding(3) var<storage, read_write> vectors: array<vec4u>;

const ROWS = 256u;
const LANES = 64u;

@compute @workgroup_size(LANES)
fn gather_vectors(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let pick = picks[gather.first + group.x];
  let at = (pick.x / ROWS * gather.stride + pick.y * gather.words) * ROWS + pick.x % ROWS;
  let into = gather.into + group.x * gather.words;
  for (var i = lane; i < gather.words; i += LANES) { vectors[into + i] = bins[at + i * ROWS]; }
}
