import type { LbpRing } from './parameters.ts';
import type { Offset } from './ring.ts';
import { cornersOf, unit } from './taps.ts';

/**
 * Rings of a wider halo load the pixels of a neighbour when it is its turn: together they would not fit the registers.
 */
const widestWindow = 3;

/**
 * WGSL for ring.wgsl, `codes_of`: the codes of a lane's four rows, bit i for neighbour i, every neighbour written out,
 * so that the pixels around a lane stay in registers and offsets and weights are constants. Measured on an H200, 4928 x
 * 2772, P = 16 and R = 2: 0.11 ms for the histogram where a loop over a table of neighbours took 0.19. A branch of its
 * own for each neighbour beats one for four, 0.112 against 0.116: fewer differences wait in registers.
 */
export function ringCodes(ring: LbpRing): string {
  const { neighbours, halo } = ring;
  const isWindow = halo <= widestWindow;
  const lines = neighbours.map((neighbour, i) => {
    const { corners, code } = compare(neighbour, ring, i);
    return { vectors: corners.flatMap(vectorsOf), code };
  });
  const centre = { column: halo, row: halo };
  const shared = isWindow ? [...lines.flatMap(({ vectors }) => vectors), ...vectorsOf(centre)] : vectorsOf(centre);
  return [
    // What rounding makes of estimates is less. Pixels are below 2^8 (or 2^16), so that a rounded product or sum, of
    // which there are four each, is wrong by at most 2^-17 (2^-9), and all weights together are by as much: less than
    // 2^-13 (2^-5).
    'override NEAR: f32 = select(0.000244140625f, 0.0625f, PIXEL_BYTES == 2);',
    'fn codes_of(at: Place) -> vec4<u32> {',
    '  let first = at.left * COLUMN_VECTORS + at.top;',
    ...loads(shared),
    `  let centre = ${pixels(centre)};`,
    '  var zeros = vec4(0u);',
    '  var doubts = 0u;',
    // The last neighbour is shifted furthest.
    ...lines.toReversed().flatMap(({ vectors, code }) => ['  {', ...(isWindow ? [] : loads(vectors)), ...code, '  }']),
    '  return decided(~zeros & vec4((1u << POINTS) - 1), doubts, at);',
    '}',
  ].join('\n');
}

/** A pixel, counted in columns and rows from where a lane's neighbours begin. */
interface TilePixel {
  column: number;
  row: number;
}

/** What one neighbour takes: pixels with a weight above 0, and the statements. */
function compare(neighbour: Offset, { halo, isStrict }: LbpRing, i: number): { corners: TilePixel[]; code: string[] } {
  const corners = cornersOf(neighbour)
    .filter(({ weight }) => weight > 0)
    .map(({ column, row, weight }) => ({ column: halo + column, row: halo + row, weight }));
  const shift = '    zeros = (zeros << vec4(1u)) | (bitcast<vec4<u32>>(difference) >> vec4(31u));';
  if (corners.length === 1) {
    // Differences of pixels are whole numbers.
    const code = `    let difference = ${pixels(corners[0]!)} - centre${isStrict ? ' - vec4(0.5f)' : ''};`;
    return { corners, code: [code, shift] };
  }
  const sums = corners.map((corner, k) => {
    const sum = `fma(vec4(${Math.fround(corner.weight / unit)}f), ${pixels(corner)}, ${k === 0 ? '-centre' : 'difference'})`;
    return k === 0 ? `    var difference = ${sum};` : `    difference = ${sum};`;
  });
  const code = [
    ...sums,
    '    let near = abs(difference) <= vec4(NEAR);',
    '    if (any(near)) {',
    // Equal pixels, the rule in flat areas, are no reason for doubt.
    `      let flat = ${corners.map((corner) => `(${pixels(corner)} == centre)`).join(' & ')};`,
    `      difference = select(difference, vec4(${isStrict ? -1 : 0}f), flat);`,
    `      doubts |= select(0u, 1u << ${i}u, any(near & !flat));`,
    '    }',
    shift,
  ];
  return { corners, code };
}

/** A lane's four rows of a column of `tile`, from that pixel on, cut out of the vectors that hold them. */
function pixels({ column, row }: TilePixel): string {
  const [vector, first] = [Math.floor(row / 4), row % 4];
  const [upper, lower] = [nameOf(column, vector), nameOf(column, vector + 1)];
  return first === 0 ? upper : `vec4(${upper}.${'xyzw'.slice(first)}, ${lower}.${'xyzw'.slice(0, first)})`;
}

/** The vectors of `tile` that hold a lane's four rows from that pixel on. */
function vectorsOf({ column, row }: TilePixel): [column: number, vector: number][] {
  const vector = Math.floor(row / 4);
  return row % 4 === 0
    ? [[column, vector]]
    : [
        [column, vector],
        [column, vector + 1],
      ];
}

/** Loads each of those vectors once. */
function loads(vectors: readonly [column: number, vector: number][]): string[] {
  const loaded = new Map(vectors.map(([column, vector]) => [nameOf(column, vector), { column, vector }]));
  return [...loaded].map(([name, { column, vector }]) => {
    return `  let ${name} = tile[first + ${column}u * COLUMN_VECTORS + ${vector}u];`;
  });
}

const nameOf = (column: number, vector: number): string => `v${column}_${vector}`;
