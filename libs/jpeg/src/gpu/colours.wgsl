// Makes red, green and blue of luma and chroma. A lane makes 4 pixels of a row. The reference is twin/upsample.ts.
//
// A workgroup makes 256 pixels of a row. Workgroups are counted by position in the row in x, by file in y, and by row
// in z. Luma is stored where red goes: a lane reads its own luma before it writes red, and no other lane reads it.

struct Component {
  first: u32,           // byte of the first sample
  stride: u32,          // bytes from row to row
  width: u32,           // samples; 0: the file is gray
  height: u32,
  across: u32,          // pixels that a sample is for, side by side
  down: u32,            // and one above the other
}

struct ColourFile {
  red: u32,             // of the first pixel, in 4 pixels
  green: u32,
  blue: u32,
  stride: u32,          // from row to row, in 4 pixels
  width: u32,
  height: u32,
  cb: Component,
  cr: Component,
}

@group(0) @binding(0) var<storage, read> files: array<ColourFile>;
@group(0) @binding(1) var<storage, read_write> planes: array<u32>;

const NARROW = 2u;

@compute @workgroup_size(64)
fn colours(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let file = workgroup.y;
  let y = workgroup.z;
  let word = workgroup.x * 64 + lane;
  if (4 * word >= files[file].width || y >= files[file].height) {
    return;
  }
  let at = y * files[file].stride + word;
  let luma = planes[files[file].red + at];
  if (files[file].cb.width == 0) {
    planes[files[file].green + at] = luma;
    planes[files[file].blue + at] = luma;
    return;
  }
  var rgb = vec3(0u);
  for (var i = 0u; i < 4; i++) {
    let own = i32((luma >> (8 * i)) & 255);
    let u = sample_at(files[file].cb, 4 * word + i, y) - 128;
    let v = sample_at(files[file].cr, 4 * word + i, y) - 128;
    let added = (vec3(91881 * v, -22554 * u - 46802 * v, 116130 * u) + 32768) >> vec3(16u);
    rgb |= vec3<u32>(clamp(own + added, vec3(0), vec3(255))) << vec3(8 * i);
  }
  planes[files[file].red + at] = rgb.x;
  planes[files[file].green + at] = rgb.y;
  planes[files[file].blue + at] = rgb.z;
}

fn sample_at(part: Component, x: u32, y: u32) -> i32 {
  let column = x / part.across;
  let row = y / part.down;
  let right = i32(x % 2);
  let below = i32(y % 2);
  let beside = i32(column) + 2 * right - 1;
  let next = i32(row) + 2 * below - 1;
  let own = stored(part, i32(column), i32(row));
  if (part.across == 1 && part.down == 2) {
    return (3 * own + stored(part, i32(column), next) + 1 + below) >> 2;
  }
  if (part.across != 2 || part.down > 2 || part.width <= NARROW) {
    return own;
  }
  if (part.down == 1) {
    return (3 * own + stored(part, beside, i32(row)) + 1 + right) >> 2;
  }
  let sum = 3 * own + stored(part, i32(column), next);
  return (3 * sum + 3 * stored(part, beside, i32(row)) + stored(part, beside, next) + 8 - right) >> 4;
}

// Beyond an edge the sample at the edge is repeated. Columns of pixels after the last one have no samples, and are
// never used.
fn stored(part: Component, column: i32, row: i32) -> i32 {
  let x = u32(clamp(column, 0, i32(part.width) - 1));
  let y = u32(clamp(row, 0, i32(part.height) - 1));
  let at = part.first + y * part.stride + x;
  return i32((planes[at / 4] >> (8 * (at % 4))) & 255);
}
