import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleBytes } from '@halogrid/geometry';
import fc from 'fast-check';
import { type MapKind, samplesOf } from '../layout/map-type.ts';
import { anyMapType, anySize, copyStrip, levelsByDefinition, someSamples } from '../testing/maps.ts';
import { buildPyramid, pyramidSizes, stripRows } from './pyramid.ts';

test('sizes are halved, rounded up, down to the first that fits', () => {
  assert.deepEqual(pyramidSizes({ width: 512, height: 3 }, 512), [{ width: 512, height: 3 }]);
  assert.deepEqual(pyramidSizes({ width: 2050, height: 3 }, 512), [
    { width: 2050, height: 3 },
    { width: 1025, height: 2 },
    { width: 513, height: 1 },
    { width: 257, height: 1 },
  ]);
  assert.deepEqual(
    pyramidSizes({ width: 5, height: 2 }, 1).map(({ width, height }) => [width, height]),
    [
      [5, 2],
      [3, 1],
      [2, 1],
      [1, 1],
    ],
  );
});

test('strips have at most 32 MiB, or two rows', () => {
  assert.equal(stripRows(20_000, { sample: 'u8', bands: 1 }, 512), 512);
  assert.equal(stripRows(70_000, { sample: 'u8', bands: 1 }, 512), 256);
  assert.equal(stripRows(10_000, { sample: 'f32', bands: 3 }, 512), 256);
  assert.equal(stripRows(1e9, { sample: 'f32', bands: 4 }, 512), 2);
});

test('every level is exactly half the one below, whatever the strips', async () => {
  await fc.assert(
    fc.asyncProperty(
      anySize(70),
      anyMapType,
      fc.constantFrom<MapKind>('labels', 'values'),
      fc.constantFrom(1, 2, 9),
      fc.constantFrom(2, 4, 8, 64),
      async (size, type, kind, sidePx, rowsOfStrip) => {
        const unit = sampleBytes[type.sample];
        const samples = someSamples(size, type);
        const sizes = pyramidSizes(size, sidePx);
        const levels = sizes.map(({ width, height }) => new Uint8Array(width * height * type.bands * unit));
        const nextRows = sizes.map(() => 0);
        await buildPyramid({
          sizes,
          type,
          kind,
          hasNoData: true,
          stripRows: rowsOfStrip,
          async read(y, rows, strip) {
            copyStrip(samples, size, type, y, rows, strip);
          },
          async write(level, y, rows, strip) {
            const { width, height } = sizes[level]!;
            assert.equal(y, nextRows[level]);
            nextRows[level]! += rows;
            for (let band = 0; band < type.bands; band++) {
              const plane = strip.subarray(
                (band * strip.length) / type.bands,
                ((band + 1) * strip.length) / type.bands,
              );
              levels[level]!.set(plane, (band * height + y) * width * unit);
            }
          },
        });
        assert.deepEqual(
          nextRows,
          sizes.map(({ height }) => height),
        );
        assert.deepEqual(levels, levelsByDefinition(samples, sizes, type, kind));
      },
    ),
    { numRuns: 150 },
  );
});

test('pixel (x, y) of level n of labels is pixel (x 2^n, y 2^n) of the map', () => {
  const size = { width: 77, height: 45 };
  const type = { sample: 'u16', bands: 1 } as const;
  const samples = someSamples(size, type);
  const sizes = pyramidSizes(size, 4);
  for (const [n, level] of levelsByDefinition(samples, sizes, type, 'labels').entries()) {
    const { width, height } = sizes[n]!;
    const values = samplesOf(level, 'u16');
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        assert.equal(values[y * width + x], samplesOf(samples, 'u16')[(y * size.width + x) * 2 ** n]);
      }
    }
  }
});
