// Rank transform, four pixels a lane, read where they lie.
//
// dispatch: x = ceil(width / 32), y = ceil(height / 8) of the largest item, z = items.

override RADIUS: i32 = 1;

@compute @workgroup_size(8, 8)
fn rank(
  @builtin(global_invocation_id) at: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let item = items[group.z];
  let x = i32(4 * at.x) - i32(item.lead);
  if (x < i32(item.out_width) && at.y < item.out_height) {
    let counts = valid_pixels(item, x, at.y);
    let ranks = select(vec4(0u), ranks_of(item, i32(item.out_x) + x, i32(item.out_y + at.y)), counts);
    store_word(4 * (item.map + at.y * item.map_stride) + at.x, pack4xU8(ranks));
    for (var i = 0; i < 4; i++) {
      if (counts[i]) {
        count(group.z, local, ranks[i], 1);
      }
    }
  }
  add_counts(group.z, local, 64);
}

// Ranks of pixels x … x + 3 of row y of the stored plane.
fn ranks_of(item: Item, x: i32, y: i32) -> vec4<u32> {
  let centre = four_pixels(item, 0, x, y);
  var ranks = vec4(0u);
  for (var row = y - RADIUS; row <= y + RADIUS; row++) {
    for (var column = x - RADIUS; column <= x + RADIUS; column++) {
      ranks += select(vec4(0u), vec4(1u), four_pixels(item, 0, column, row) < centre);
    }
  }
  return ranks;
}
