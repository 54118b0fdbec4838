import assert from 'node:assert/strict';
import test from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { type BorderMode, borderIndex, borderModes } from '../kernel/border.ts';
import { runReference } from '../reference.ts';
import { createPipelineOver, noiseFor, samplesOf, staged, type TestImage, tileArbitrary } from '../testing/index.ts';

test('codes and counts follow the definition, pixel by pixel, for whole images and tiles', () => {
  fc.assert(
    fc.property(
      tileArbitrary(24, 24),
      fc.constantFrom(...borderModes),
      fc.integer({ min: 2, max: 6 }),
      fc.constantFrom('u8', 'u16'),
      ({ size, tile, seed, levels }, border, order, pixel) => {
        const pipeline = createPipelineOver(pixel, [{ kernel: 'ldp', parameters: { order: `${order}` }, border }]);
        const image = noiseFor(pipeline, size, seed, levels);
        const { item, bytes } = staged(pipeline, image, tile);
        const result = runReference(pipeline, bytes, item, true);
        const codes = samplesOf(pipeline, result, tile);

        const bins = new Array(4 * 256).fill(0);
        let counted = 0;
        towards.forEach((step, band) => {
          const derivative = derive(padded(image, border, order), step, order - 1);
          for (let y = 0; y < tile.height; y++) {
            for (let x = 0; x < tile.width; x++) {
              const [column, row] = [tile.x + x, tile.y + y];
              const margin = Math.min(column, row, size.width - 1 - column, size.height - 1 - row);
              const isCounted = border !== 'interior' || margin >= order;
              const code = isCounted ? definition(derivative, column, row) : 0;
              assert.equal(codes[(band * tile.height + y) * tile.width + x], code);
              if (!isCounted) continue;
              bins[256 * band + code]++;
              if (band === 0) counted++;
            }
          }
        });
        assert.deepEqual([...result.bins], bins);
        assert.equal(result.counted, counted);
      },
    ),
    { numRuns: runs(400) },
  );
});

/** Values by column and row. */
type Field = Map<string, number>;

const at = (x: number, y: number): string => `${x} ${y}`;

/** Columns and rows from a pixel to the next one in each direction: E, NE, N, NW. */
const towards = [
  [1, 0],
  [1, -1],
  [0, -1],
  [-1, -1],
] as const;

/** The image with a margin larger than the halo. */
function padded({ width, height, pixels }: TestImage, border: BorderMode, order: number): Field {
  const field: Field = new Map();
  for (let y = -order; y < height + order; y++) {
    for (let x = -order; x < width + order; x++) {
      const [column, row] = [borderIndex(x, width, border), borderIndex(y, height, border)];
      field.set(at(x, y), column < 0 || row < 0 ? 0 : pixels[row * width + column]!);
    }
  }
  return field;
}

/** Differences of differences, `times` times; pixels without a next one drop out. */
function derive(field: Field, [dx, dy]: readonly [number, number], times: number): Field {
  if (times === 0) return field;
  const differences: Field = new Map();
  for (const [key, value] of field) {
    const [x, y] = key.split(' ').map(Number) as [number, number];
    const next = field.get(at(x + dx, y + dy));
    if (next !== undefined) differences.set(key, value - next);
  }
  return derive(differences, [dx, dy], times - 1);
}

/** The literature's definition: 0 if the product of the derivatives is positive, otherwise 1; NW first, clockwise. */
function definition(derivative: Field, x: number, y: number): number {
  const ring = [
    derivative.get(at(x - 1, y - 1))!,
    derivative.get(at(x, y - 1))!,
    derivative.get(at(x + 1, y - 1))!,
    derivative.get(at(x + 1, y))!,
    derivative.get(at(x + 1, y + 1))!,
    derivative.get(at(x, y + 1))!,
    derivative.get(at(x - 1, y + 1))!,
    derivative.get(at(x - 1, y))!,
  ];
  const centre = derivative.get(at(x, y))!;
  return Number.parseInt(ring.map((neighbour) => (centre * neighbour > 0 ? '0' : '1')).join(''), 2);
}
