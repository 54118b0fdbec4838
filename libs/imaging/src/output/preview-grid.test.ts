import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { previewRect, previewSidePx, previewStride, samplePreview } from './preview-grid.ts';

const side = fc.integer({ min: 1, max: 1_000_000 });

test('a preview has at most 1024 pixels a side, and the next smaller stride would have more', () => {
  fc.assert(
    fc.property(side, side, (width, height) => {
      const stride = previewStride({ width, height });
      const longer = Math.max(width, height);
      assert.ok(Math.ceil(longer / stride) <= previewSidePx);
      assert.ok(stride === 1 || Math.ceil(longer / (stride - 1)) > previewSidePx);
    }),
  );
});

test('an image of up to 1024 pixels a side is its own preview', () => {
  assert.equal(previewStride({ width: 1024, height: 1 }), 1);
  assert.equal(previewStride({ width: 1025, height: 1 }), 2);
  assert.deepEqual(previewRect({ x: 3, y: 5, width: 7, height: 9 }, { width: 100, height: 100 }), {
    x: 3,
    y: 5,
    width: 7,
    height: 9,
  });
});

test('the previews of any tiles make up the preview of the whole', () => {
  const cases = fc.record({
    width: fc.integer({ min: 1, max: 4000 }),
    height: fc.integer({ min: 1, max: 12 }),
    tilePx: fc.integer({ min: 1, max: 900 }),
  });
  fc.assert(
    fc.property(cases, ({ width, height, tilePx }) => {
      const size = { width, height };
      const pixels = Uint8Array.from({ length: width * height }, (_, i) => (i * 31) % 251);
      const whole = previewRect({ x: 0, y: 0, ...size }, size);
      const expected = samplePreview(pixels, width, { x: 0, y: 0, ...size }, size);

      const joined = new Uint8Array(expected.length);
      let joinedPixels = 0;
      for (let y = 0; y < height; y += tilePx) {
        for (let x = 0; x < width; x += tilePx) {
          const rect = { x, y, width: Math.min(tilePx, width - x), height: Math.min(tilePx, height - y) };
          const part = samplePreview(pixels.subarray(y * width + x), width, rect, size);
          const area = previewRect(rect, size);
          joinedPixels += part.length;
          for (let row = 0; row < area.height; row++) {
            const from = part.subarray(row * area.width, (row + 1) * area.width);
            joined.set(from, (area.y + row) * whole.width + area.x);
          }
        }
      }
      assert.equal(joinedPixels, expected.length);
      assert.deepEqual(joined, expected);
    }),
  );
});
