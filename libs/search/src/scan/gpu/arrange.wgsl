// Copies the frames of a block, which lie one after another, into the bundles of a shelf.

struct Arrange {
  // The number of the block's first frame in the shelf, and the number of its frames.
  first: u32,
  count: u32,
  // Units of four words in a frame.
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
