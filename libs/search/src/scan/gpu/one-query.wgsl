// A lane looks at one vector, and at one query.

@group(0) @binding(6) var<storage, read> picks: array<vec4u>;

fn near(query: u32, bundle: u32, cell: u32, lane: u32) -> f32 {
  let scale = scale_of(bundle * ROWS + lane, cell);
  if (scale == 0) { return NOTHING; }
  let at = (bundle * scan.stride + cell * scan.words) * ROWS + lane;
  let begin = query * scan.words * QUADS;
  var sums = vec4f();
  for (var i = 0u; i < scan.words; i++) {
    let word = bins[at + i * ROWS];
    for (var k = 0u; k < QUADS; k++) { sums += term(share(quad(word, k), scale), wanted[begin + i * QUADS + k]); }
  }
  return whole(dot(sums, vec4f(1)));
}

var<workgroup> nearest: atomic<u32>;

// The nearest vector of each bundle.
@compute @workgroup_size(ROWS)
fn best_of_bundles(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  atomicMax(&nearest, ordered(near(group.z, group.x, group.y, lane)));
  workgroupBarrier();
  if (lane != 0) { return; }
  let bundles = scan.rows / ROWS;
  figures[group.z * scan.total + scan.base + group.y * bundles + group.x] = from_ordered(atomicLoad(&nearest));
}

// All vectors of some bundles: query, bundle and cell of each are a pick.
@compute @workgroup_size(ROWS)
fn near_of_picks(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let pick = picks[scan.first + group.x];
  figures[(scan.first + group.x) * ROWS + lane] = near(pick.x, pick.y, pick.z, lane);
}

// The factors that make the length of vectors 1: the `scales` of the cosine.
@compute @workgroup_size(ROWS)
fn inverse_norms(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let at = (group.x * scan.stride + group.y * scan.words) * ROWS + lane;
  var squares = vec4f();
  for (var i = 0u; i < scan.words; i++) {
    let word = bins[at + i * ROWS];
    for (var k = 0u; k < QUADS; k++) { squares += quad(word, k) * quad(word, k); }
  }
  let square = dot(squares, vec4f(1));
  figures[group.y * scan.rows + group.x * ROWS + lane] = select(0, inverseSqrt(square), square > 0);
}
