// Convolutions for property tests, with their weights defined independently.
import fc from 'fast-check';
import { sampleTypes } from '../conv.ts';

/** Parameters, and the matrices that they stand for: two for a magnitude. */
export interface TestConv {
  parameters: Record<string, string>;
  weights: readonly (readonly (readonly number[])[])[];
}

const square = (side: number, weight: (i: number, j: number) => number): number[][] =>
  Array.from({ length: side }, (_, i) => Array.from({ length: side }, (_, j) => weight(i, j)));

const prewitt = square(3, (_, j) => j - 1);
const sobel = square(3, (i, j) => (j - 1) * (2 - Math.abs(i - 1)));
const turned = (matrix: number[][]): number[][] => square(matrix.length, (i, j) => matrix[j]![i]!);

const named: [string, number[][][]][] = [
  ['prewitt-x', [prewitt]],
  ['prewitt-y', [turned(prewitt)]],
  ['prewitt', [prewitt, turned(prewitt)]],
  ['sobel-x', [sobel]],
  ['sobel-y', [turned(sobel)]],
  ['sobel', [sobel, turned(sobel)]],
  ['sharpen-3', [square(3, (i, j) => [5, -1, 0][Math.abs(i - 1) + Math.abs(j - 1)]!)]],
  ['log-5', [square(5, (i, j) => (i === 2 && j === 2 ? 16 : [0, -2, -1][Math.abs(i - 2) + Math.abs(j - 2)]) ?? 0)]],
];

const namedArbitrary = fc.constantFrom(...named).map(([kernel, weights]) => ({ given: { kernel }, weights }));

const side = fc.oneof(
  fc.constantFrom(3, 5, 7),
  fc.integer({ min: 1, max: 15 }).map((half) => 2 * half + 1),
);

const boxArbitrary = side.map((n) => ({
  given: { kernel: `box-${n}` },
  weights: [square(n, () => Math.fround(1 / n ** 2))],
}));

const gaussianArbitrary = fc.tuple(side, fc.option(fc.double({ min: 0.5, max: 6, noNaN: true }))).map(([n, given]) => {
  const sigma = given ?? 0.3 * ((n - 1) * 0.5 - 1) + 0.8;
  const line = Array.from({ length: n }, (_, i) => Math.exp(-((i - (n - 1) / 2) ** 2) / (2 * sigma ** 2)));
  const sum = line.reduce((total, entry) => total + entry, 0);
  return {
    given: { kernel: `gaussian-${n}`, ...(given !== null && { sigma: String(given) }) },
    weights: [square(n, (i, j) => Math.fround((line[i]! / sum) * (line[j]! / sum)))],
  };
});

/** Integers small and large, fractions with ties, any numbers, and products of two lines. */
const matrixArbitrary = side
  .chain((n) =>
    fc.oneof(
      line(n * n, fc.integer({ min: -9, max: 9 })),
      line(n * n, fc.integer({ min: -2000, max: 2000 })),
      line(
        n * n,
        fc.integer({ min: -4, max: 4 }).map((eighths) => eighths / 8),
      ),
      line(n * n, fc.double({ min: -1, max: 1, noNaN: true })),
      product(n, fc.integer({ min: -4, max: 4 })),
      product(n, fc.double({ min: -1, max: 1, noNaN: true })),
    ),
  )
  .map((entries) => {
    const n = Math.sqrt(entries.length);
    const matrix = square(n, (i, j) => entries[i * n + j]!);
    return { given: { matrix: JSON.stringify(matrix) }, weights: [matrix] };
  });

function line(length: number, entry: fc.Arbitrary<number>): fc.Arbitrary<number[]> {
  return fc.array(entry, { minLength: length, maxLength: length });
}

function product(n: number, entry: fc.Arbitrary<number>): fc.Arbitrary<number[]> {
  return fc.tuple(line(n, entry), line(n, entry)).map(([v, h]) => v.flatMap((a) => h.map((b) => a * b)));
}

/** Every kernel, type and number of channels. */
export const convArbitrary: fc.Arbitrary<TestConv> = fc
  .tuple(
    fc.oneof(namedArbitrary, boxArbitrary, gaussianArbitrary, matrixArbitrary),
    fc.constantFrom(...sampleTypes),
    fc.constantFrom('gray', 'rgb'),
  )
  .map(([{ given, weights }, as, channels]) => ({ parameters: { ...given, as, channels }, weights }));
