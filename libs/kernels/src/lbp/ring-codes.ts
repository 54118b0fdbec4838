import type { LbpRing } from './parameters.ts';
import type { Offset } from './ring.ts';
import { cornersOf, unit } from './taps.ts';

/**
 * The widest halo whose pixels are loaded once for all neighbours. With a wider one they would not fit the registers,
 * so each neighbour loads its own.
 */
const widestWindow = 3;

/**
 * WGSL for ring.wgsl: `codes_of` returns the codes of a lane's four rows, bit i for neighbour i. Every neighbour is
 * unrolled, so that the pixels around a lane stay in registers, and offsets and weights are constants. Measured on an
 * H200, 4928 x 2772, P = 16 and R = 2: the histogram takes 0.11 ms, with a loop over a table of neighbours 0.19. One
 * branch per neighbour is faster than one for four, 0.112 against 0.116: fewer differences wait in registers.
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
    // The largest rounding error of an estimate is below NEAR. Pixels are below 2^8 (or 2^16). Each of the four
    // products and four sums is off by at most 2^-17 (2^-9), and so are all weights together. The total is below 2^-13
    // (2^-5).
    'override NEAR: f32 = select(0.000244140625f, 0.0625f, PIXEL_BYTES == 2);',
    'fn codes_of(at: Place) -> vec4<u32> {',
    '  let first = at.left * COLUMN_VECTORS + at.top;',
    ...loads(shared),
    `  let centre = ${pixels(centre)};`,
    '  var zeros = vec4(0u);',
    '  var doubts = 0u;',
    // The last neighbour comes first, because its bit is shifted furthest.
    ...lines.toReversed().flatMap(({ vectors, code }) => ['  {', ...(isWindow ? [] : loads(vectors)), ...code, '  }']),
    '  return decided(~zeros & vec4((1u << POINTS) - 1), doubts, at);',
    '}',
  ].join('\n');
}

/** A pixel, counted in columns and rows from the first of a lane's neighbours. */
interface TilePixel {
  column: number;
  row: number;
}

/** The code for one neighbour: pixels with a weight above 0, and the statements. */
function compare(neighbour: Offset, { halo, isStrict }: LbpRing, i: number): { corners: TilePixel[]; code: string[] } {
  const corners = cornersOf(neighbour)
    .filter(({ weight }) => weight > 0)
    .map(({ column, row, weight }) => ({ column: halo + column, row: halo + row, weight }));
  const shift = '    zeros = (zeros << vec4(1u)) | (bitcast<vec4<u32>>(difference) >> vec4(31u));';
  if (corners.length === 1) {
    // Differences of pixels are integers, so none is in doubt.
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
    // If all pixels are equal, as usual in flat areas, there is no doubt.
    `      let flat = ${corners.map((corner) => `(${pixels(corner)} == centre)`).join(' & ')};`,
    `      difference = select(difference, vec4(${isStrict ? -1 : 0}f), flat);`,
    `      doubts |= select(0u, 1u << ${i}u, any(near & !flat));`,
    '    }',
    shift,
  ];
  return { corners, code };
}

/** A lane's four rows from a pixel of `tile` on, combined from the vectors that hold them. */
function pixels({ column, row }: TilePixel): string {
  const [vector, first] = [Math.floor(row / 4), row % 4];
  const [upper, lower] = [nameOf(column, vector), nameOf(column, vector + 1)];
  return first === 0 ? upper : `vec4(${upper}.${'xyzw'.slice(first)}, ${lower}.${'xyzw'.slice(0, first)})`;
}

/** The vectors of `tile` that hold a lane's four rows from a pixel on. */
function vectorsOf({ column, row }: TilePixel): [column: number, vector: number][] {
  const vector = Math.floor(row / 4);
  return row % 4 === 0
    ? [[column, vector]]
    : [
        [column, vector],
        [column, vector + 1],
      ];
}

/** Loads each of these vectors once. */
function loads(vectors: readonly [column: number, vector: number][]): string[] {
  const loaded = new Map(vectors.map(([column, vector]) => [nameOf(column, vector), { column, vector }]));
  return [...loaded].map(([name, { column, vector }]) => {
    return `  let ${name} = tile[first + ${column}u * COLUMN_VECTORS + ${vector}u];`;
  });
}

const nameOf = (column: number, vector: number): string => `v${column}_${vector}`;
