import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isMosaic, mosaicGapPx, panelsAcross, previewRect, previewSidePx, previewStride } from './preview-grid.ts';

const side = fc.integer({ min: 1, max: 1_000_000 });
const anyBands = fc.integer({ min: 1, max: 40 });

test('a picture has at most 1024 pixels a side, and the next smaller stride would have more', () => {
  fc.assert(
    fc.property(side, side, anyBands, (width, height, bands) => {
      const stride = previewStride({ width, height }, bands);
      const longer = Math.max(width, height);
      const pictureSide = (step: number): number => {
        const across = isMosaic(bands) ? panelsAcross(bands) : 1;
        return across * Math.ceil(longer / step) + (across - 1) * mosaicGapPx;
      };
      assert.ok(pictureSide(stride) <= previewSidePx);
      assert.ok(stride === 1 || pictureSide(stride - 1) > previewSidePx);
    }),
  );
});

test('an image of up to 1024 pixels a side is its own preview', () => {
  assert.equal(previewStride({ width: 1024, height: 1 }, 1), 1);
  assert.equal(previewStride({ width: 1025, height: 1 }, 1), 2);
  assert.equal(previewStride({ width: 1024, height: 1 }, 3), 1);
  assert.equal(previewStride({ width: 510, height: 510 }, 4), 1);
  assert.equal(previewStride({ width: 511, height: 1 }, 4), 2);
  const rect = { x: 3, y: 5, width: 7, height: 9 };
  assert.deepEqual(previewRect(rect, { width: 100, height: 100 }, 1), rect);
});
