// The frames of a block, one after another, into the bundles of a shelf.

struct Arrange {
  // Number of the block's first frame in the shelf, and its frames.
  first: u32,
  count: u32,
  // Four words each of a frame.
  stride: u32,
}

@group(0) @binding(0) var<storage, read> block: array<vec4u>;
@group(0) @binding(1) var<uniform> arrange: Arrange;
@group(0) @binding(2) var<storage, read_write> bins: array<vec4u>;

const ROWS = 256u;

@compute @workgroup_size(64)
fn arrange_block(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let all = arrange.count * arrange.stride;
  for (var i = id.x; i < all; i += groups.x * 64) {
    // Neighbouring lanes write side by side: frames go fastest.
    let row = arrange.first + i % arrange.count;
    let word = i / arrange.count;
    bins[(row / ROWS * arrange.stride + word) * ROWS + row % ROWS] = block[i % arrange.count * arrange.stride + word];
  }
}
