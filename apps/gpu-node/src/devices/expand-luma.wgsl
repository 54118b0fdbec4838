// Gray of luma of the limited range, four pixels a word: (2 (Y - 16) 19077 + 2^14) >> 15, clipped to 0…255, the values
// of expandedLuma in libs/imaging/src/video/process/video-gray.ts for 8 bits.
@group(0) @binding(0) var<storage, read_write> planes: array<u32>;

const lanes = 256u;
const words_each = 4u;
const row_groups = 1024u;

fn gray(luma: vec4<i32>) -> vec4<u32> {
  let above = max(luma - 16, vec4(0));
  return vec4<u32>(min((2 * above * 19077 + 16384) >> vec4(15u), vec4(255)));
}

@compute @workgroup_size(256)
fn expand_luma(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = (group.y * row_groups + group.x) * lanes * words_each + lane;
  for (var i = 0u; i < words_each; i++) {
    let at = first + i * lanes;
    if (at < arrayLength(&planes)) {
      planes[at] = pack4xU8(gray(vec4<i32>(unpack4xU8(planes[at]))));
    }
  }
}
