// How near the vectors of a shelf are to queries. nearness-shader.ts appends code that it makes: `quad`, and the terms
// of the distance.
//
// A shelf holds frames whose counts have the same width. A bundle is ROWS frames: the first four words of each frame
// one after another, then the next four words of each. So lanes that look at one frame each read words that lie side by
// side.

struct Scan {
  // Frames, including padding that fills up the last bundle.
  rows: u32,
  // Units of four words: of a vector, and of a frame, whose cells are vectors one after another.
  words: u32,
  stride: u32,
  // Where the shelf's figures begin among a query's figures, and how many figures a query has.
  base: u32,
  total: u32,
  queries: u32,
  // The first of the `picks` of this shelf.
  first: u32,
}

@group(0) @binding(0) var<storage, read> bins: array<vec4u>;
@group(0) @binding(1) var<storage, read> wanted: array<vec4f>;
// The factor of a vector's counts; 0 for a vector without counts. The first cells of all frames, then the second cells,
// and so on.
@group(0) @binding(2) var<storage, read> scales: array<f32>;
// A bit for each frame that is asked for.
@group(0) @binding(3) var<storage, read> asked: array<u32>;
@group(0) @binding(4) var<uniform> scan: Scan;
@group(0) @binding(5) var<storage, read_write> figures: array<f32>;

const ROWS = 256u;
// The figure of a vector that is not asked for or has no counts: below all other figures.
const NOTHING = -3e38;

fn scale_of(row: u32, cell: u32) -> f32 {
  if (((asked[row / 32] >> (row % 32)) & 1) == 0) { return 0; }
  return scales[cell * scan.rows + row];
}

// A float as a whole number; the order is the same, for an atomic maximum. It is never 0.
fn ordered(value: f32) -> u32 {
  let bits = bitcast<u32>(value);
  return select(bits | 0x80000000, ~bits, (bits & 0x80000000) != 0);
}

fn from_ordered(value: u32) -> f32 {
  return bitcast<f32>(select(~value, value & 0x7fffffff, (value & 0x80000000) != 0));
}
