import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleBytes } from '@halogrid/geometry';
import fc from 'fast-check';
import { previewRect, previewStride } from '../layout/preview-grid.ts';
import { anyMapType, cut, someSamples, within } from '../testing/maps.ts';
import { copyRows } from './chunk-reader.ts';
import { packSamples, samplePreview } from './planar-samples.ts';

const anyCase = fc.record({
  width: fc.integer({ min: 1, max: 4000 }),
  height: fc.integer({ min: 1, max: 12 }),
  tilePx: fc.integer({ min: 7, max: 900 }),
  type: anyMapType,
});

test('the packed tiles of any image make up the whole of it', () => {
  fc.assert(
    fc.property(anyCase, ({ width, height, tilePx, type }) => {
      const size = { width, height };
      const unit = sampleBytes[type.sample];
      const samples = someSamples(size, type);
      const joined = new Uint8Array(samples.length);
      for (const rect of cut(size, tilePx)) {
        const packed = packSamples(within(samples, size, type, rect), type, rect);
        const bandBytes = packed.length / type.bands;
        for (let band = 0; band < type.bands; band++) {
          const part = packed.subarray(band * bandBytes, (band + 1) * bandBytes);
          const at = ((band * height + rect.y) * width + rect.x) * unit;
          copyRows(part, rect.width * unit, joined, at, width * unit);
        }
      }
      assert.deepEqual(joined, samples);
    }),
    { numRuns: 50 },
  );
});

test('the previews of any tiles make up every n-th pixel of the image', () => {
  fc.assert(
    fc.property(anyCase, ({ width, height, tilePx, type }) => {
      const size = { width, height };
      const unit = sampleBytes[type.sample];
      const samples = someSamples(size, type);
      const stride = previewStride(size, type.bands);
      const whole = previewRect({ x: 0, y: 0, ...size }, size, type.bands);
      const expected = new Uint8Array(whole.width * whole.height * type.bands * unit);
      for (let i = 0; i < expected.length; i++) {
        const pixel = Math.floor(i / unit);
        const x = (pixel % whole.width) * stride;
        const y = (Math.floor(pixel / whole.width) % whole.height) * stride;
        const band = Math.floor(pixel / (whole.width * whole.height));
        expected[i] = samples[((band * height + y) * width + x) * unit + (i % unit)]!;
      }

      const joined = new Uint8Array(expected.length);
      let joinedBytes = 0;
      for (const rect of cut(size, tilePx)) {
        const sampled = samplePreview(within(samples, size, type, rect), type, rect, size);
        const area = previewRect(rect, size, type.bands);
        const bandBytes = sampled.length / type.bands;
        joinedBytes += sampled.length;
        for (let band = 0; band < type.bands && bandBytes; band++) {
          const part = sampled.subarray(band * bandBytes, (band + 1) * bandBytes);
          const at = ((band * whole.height + area.y) * whole.width + area.x) * unit;
          copyRows(part, area.width * unit, joined, at, whole.width * unit);
        }
      }
      assert.equal(joinedBytes, expected.length);
      assert.deepEqual(joined, expected);
    }),
    { numRuns: 50 },
  );
});
