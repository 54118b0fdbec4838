// The definition of docs/kernels/lbp.md, followed word by word with rational numbers and strings of bits, for tests.

/** The pixel at (x, y), which may be outside the image. */
export type ReadPixel = (x: number, y: number) => number;

export interface DefinedLbp {
  convention: string;
  points: number;
  radius: number;
  labels: string;
}

/** The label of the pixel at (x, y), or the variance of its neighbours, NaN if they are equal. */
export function defineLbp(read: ReadPixel, x: number, y: number, lbp: DefinedLbp): number {
  const { convention, points, labels } = lbp;
  const centre = BigInt(read(x, y)) * unit * unit;
  const ring = placesOf(lbp).map(([dx, dy]) => interpolate(read, x, y, dx!, dy!));
  if (labels === 'var') return variance(ring);
  const bits = ring.map((value) => (convention === 'mahotas' ? value > centre : value >= centre));
  // The first neighbour is the lowest bit, which is written last, unless it is the highest.
  const inOrder = bits.map((bit) => (bit ? '1' : '0'));
  const isFirstHighest = convention === 'nw-cw-msb' || convention.startsWith('bob');
  return labelOfBits((isFirstHighest ? inOrder : inOrder.toReversed()).join(''), points, labels, convention);
}

/** Units in a pixel: five decimals. */
const unit = 100_000n;

/** The neighbours in order: distances right and down, in units. */
function placesOf({ convention, points, radius }: DefinedLbp): bigint[][] {
  const isSquare = convention.startsWith('nw-cw') || (convention === 'bob' && (points === 4 || points === 8));
  if (isSquare) {
    const compass = points === 4 ? ['N', 'E', 'S', 'W'] : ['NW', 'N', 'NE', 'E', 'SE', 'S', 'SW', 'W'];
    return compass.map((name) => {
      const step = (plus: string, minus: string) => (name.includes(plus) ? 1n : name.includes(minus) ? -1n : 0n);
      return [step('E', 'W') * BigInt(radius) * unit, step('S', 'N') * BigInt(radius) * unit];
    });
  }
  return Array.from({ length: points }, (_, i) => {
    const turn = (2 * Math.PI * i) / points;
    // Mathematical angles in degrees: 0 is East, 90 is North.
    const isClockwise = convention.startsWith('bob') || convention === 'mahotas';
    const start = convention === 'mahotas' ? 180 : !convention.startsWith('bob') ? 0 : points === 4 ? 90 : 135;
    const angle = (start * Math.PI) / 180 + (isClockwise ? -turn : turn);
    return [Math.cos(angle), -Math.sin(angle)].map((part) => BigInt((radius * part).toFixed(5).replace('.', '')));
  });
}

/** The interpolated pixel at a position, in units of 1 / `unit` squared. */
function interpolate(read: ReadPixel, x: number, y: number, dx: bigint, dy: bigint): bigint {
  const floor = (a: bigint) => (a - (((a % unit) + unit) % unit)) / unit;
  const [left, top] = [floor(dx), floor(dy)];
  let sum = 0n;
  for (const column of [left, left + 1n]) {
    for (const row of [top, top + 1n]) {
      const near = (a: bigint, b: bigint) => unit - (a > b ? a - b : b - a);
      const weight = near(dx, column * unit) * near(dy, row * unit);
      if (weight > 0n) sum += weight * BigInt(read(x + Number(column), y + Number(row)));
    }
  }
  return sum;
}

/** Mean of squares minus square of the mean, in integers as far as possible. */
function variance(ring: readonly bigint[]): number {
  const count = BigInt(ring.length);
  const sum = ring.reduce((a, b) => a + b);
  const squares = ring.reduce((a, b) => a + b * b, 0n);
  const numerator = count * squares - sum * sum;
  return numerator === 0n ? Number.NaN : Number(numerator) / Number(count * count) / Number(unit ** 4n);
}

function labelOfBits(bits: string, points: number, labels: string, convention: string): number {
  const rotations = Array.from({ length: points }, (_, i) => bits.slice(i) + bits.slice(0, i));
  if (labels === 'all') return Number.parseInt(bits, 2);
  if (labels === 'ror') return Number.parseInt(rotations.sort()[0]!, 2);

  const isBob = convention.startsWith('bob');
  const groups = Array.from({ length: points + 1 }, (_, ones) => {
    const run = '1'.repeat(ones);
    const rest = '0'.repeat(points - ones);
    // Written with the lowest bit last: scikit-image rotates a run at the low end to the right, bob one at the high
    // end.
    const first = isBob ? run + rest : rest + run;
    const turned = Array.from({ length: points }, (_, i) => first.slice(points - i) + first.slice(0, points - i));
    return ones === 0 || ones === points ? [first] : turned;
  });
  const group = groups.findIndex((patterns) => patterns.includes(bits));
  const uniform = labels === 'uniform' ? groups.map((_, ones) => ones) : groups.flat();
  const index = labels === 'uniform' ? group : groups.flat().indexOf(bits);
  if (group < 0) return isBob ? 0 : uniform.length;
  return isBob ? index + 1 : index;
}
