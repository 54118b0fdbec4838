import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PixelType, type Size, sampleBytes } from '@halogrid/geometry';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { type MapType, samplesOf } from '../layout/map-type.ts';
import { previewStride } from '../layout/preview-grid.ts';
import { cut, someSamples, within } from '../testing/maps.ts';
import { addSums, blocksOf, meansOf, sumBlocks } from './source-sums.ts';

/** The means, from the sums of parts of the image. */
function meansByParts(size: Size, type: MapType, samples: Uint8Array, tilePx: number): number[] {
  const whole = blocksOf({ size, type, rect: { x: 0, y: 0, ...size } });
  const sums = new Uint32Array(whole.width * whole.height * type.bands);
  for (const rect of cut(size, tilePx)) {
    const bytes = sumBlocks({ size, type, rect }, within(samples, size, type, rect)) as Uint8Array<ArrayBuffer>;
    // The most that a coordinator accepts from a node without storage.
    assert.ok(bytes.length <= 4 * (rect.width + 1) * (rect.height + 1) * sampleBytes[type.sample]);
    addSums({ size, type, rect }, bytes, sums);
  }
  return [...samplesOf(meansOf(size, type, sums), type.sample)];
}

/** The means as documented, pixel by pixel. */
function meansByDefinition({ width, height }: Size, { sample, bands }: MapType, bytes: Uint8Array): number[] {
  const samples = samplesOf(bytes, sample);
  const stride = previewStride({ width, height }, bands);
  const [columns, rows] = [Math.ceil(width / stride), Math.ceil(height / stride)];
  const spread = [...new Set(Array.from({ length: 16 }, (_, i) => Math.floor((i * stride) / 16)))];
  const taps = stride <= 16 ? Array.from({ length: stride }, (_, i) => i) : spread;
  return Array.from({ length: columns * rows * bands }, (_, i) => {
    const [column, row, band] = [i % columns, Math.floor(i / columns) % rows, Math.floor(i / columns / rows)];
    let [sum, pixels] = [0, 0];
    for (const down of taps) {
      for (const right of taps) {
        const [x, y] = [column * stride + right, row * stride + down];
        if (x >= width || y >= height) continue;
        sum += samples[(band * height + y) * width + x]!;
        pixels++;
      }
    }
    return Math.round(sum / pixels);
  });
}

test('blocks of pixels are shown by their means, however the image is cut', () => {
  const sides = fc.tuple(fc.constantFrom(700, 1024, 1025, 2100, 5000, 17_000, 40_000), fc.integer({ min: 1, max: 90 }));
  const types = fc.record({ sample: fc.constantFrom<PixelType>('u8', 'u16'), bands: fc.constantFrom(1, 3) });
  fc.assert(
    fc.property(sides, fc.boolean(), types, fc.integer({ min: 1, max: 9 }), ([long, short], isWide, type, parts) => {
      const size = isWide ? { width: long, height: short } : { width: short, height: long };
      const samples = someSamples(size, type);
      const tilePx = Math.ceil(long / parts);
      assert.deepEqual(meansByParts(size, type, samples, tilePx), meansByDefinition(size, type, samples));
    }),
    { numRuns: repeated(10, 60) },
  );
});

test('sums of the smallest parts are no larger than a coordinator takes', () => {
  const type = { sample: 'u8', bands: 3 } as const;
  const size = { width: 1500, height: 1500 };
  const bytes = new Uint8Array(3 * size.width * size.height);
  for (let width = 1; width < 9; width++) {
    for (let height = 1; height < 9; height++) {
      for (const x of [0, 1]) {
        const rect = { x, y: 1, width, height };
        const sums = sumBlocks({ size, type, rect }, within(bytes, size, type, rect));
        assert.ok(sums.length <= 4 * (width + 1) * (height + 1), `${width} x ${height}`);
      }
    }
  }
});
