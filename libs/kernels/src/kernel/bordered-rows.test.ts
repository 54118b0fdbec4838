import assert from 'node:assert/strict';
import test from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { noise } from '../testing/index.ts';
import { borderIndex, borderModes } from './border.ts';
import { copyBorderedRows } from './bordered-rows.ts';

test('every pixel of any rectangle follows the border rule, and nothing else is written', () => {
  fc.assert(
    fc.property(
      fc.record({ width: fc.integer({ min: 1, max: 12 }), height: fc.integer({ min: 1, max: 12 }) }),
      fc.record({
        x: fc.integer({ min: -20, max: 20 }),
        y: fc.integer({ min: -20, max: 20 }),
        width: fc.nat(30),
        height: fc.nat(30),
      }),
      fc.constantFrom(...borderModes),
      fc.integer(),
      (stored, rect, border, seed) => {
        const plane = { offset: 5, stride: 16, stored };
        const bytes = noise(plane.offset + plane.stride * stored.height, seed);
        const [at, targetStride] = [3, rect.width + 2];
        const target = new Uint8Array(at + targetStride * rect.height + 4).fill(170);

        const expected = target.slice();
        for (let y = 0; y < rect.height; y++) {
          for (let x = 0; x < rect.width; x++) {
            const column = borderIndex(rect.x + x, stored.width, border);
            const row = borderIndex(rect.y + y, stored.height, border);
            const isZero = column < 0 || row < 0;
            expected[at + y * targetStride + x] = isZero ? 0 : bytes[plane.offset + row * plane.stride + column]!;
          }
        }
        copyBorderedRows(bytes, plane, border, rect, target, at, targetStride);
        assert.deepEqual(target, expected);
      },
    ),
    { numRuns: runs(1000) },
  );
});
