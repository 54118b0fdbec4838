import assert from 'node:assert/strict';
import test from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { borderIndex, borderModes } from '../kernel/border.ts';
import { planRead } from './halo.ts';

const size = fc.record({ width: fc.integer({ min: 1, max: 40 }), height: fc.integer({ min: 1, max: 40 }) });
const cut = fc.tuple(size, fc.nat(39), fc.nat(39), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }));
const mode = fc.constantFrom(...borderModes);

test('a tile and its halo, stored as planned, contain every pixel that the kernel would read from the whole image', () => {
  fc.assert(
    fc.property(cut, mode, fc.integer({ min: 0, max: 3 }), ([image, left, top, w, h], border, halo) => {
      const x = left % image.width;
      const y = top % image.height;
      const tile = { x, y, width: Math.min(w, image.width - x), height: Math.min(h, image.height - y) };
      const plan = planRead(tile, image, halo, border);

      // For each stored pixel, where it was copied from.
      const from = new Int32Array(plan.stored.width * plan.stored.height).fill(-1);
      for (const copy of plan.copies) {
        for (let dy = 0; dy < copy.from.height; dy++) {
          for (let dx = 0; dx < copy.from.width; dx++) {
            const at = (copy.to.y + dy) * plan.stored.width + copy.to.x + dx;
            assert.equal(from[at], -1, 'copied twice');
            from[at] = (copy.from.y + dy) * image.width + copy.from.x + dx;
          }
        }
      }
      assert.ok(!from.includes(-1), 'a stored pixel is never filled');

      for (let py = plan.valid.y; py < plan.valid.y + plan.valid.height; py++) {
        for (let px = plan.valid.x; px < plan.valid.x + plan.valid.width; px++) {
          for (const [dx, dy] of [
            [-halo, -halo],
            [halo, halo],
            [0, -halo],
            [halo, 0],
            [0, 0],
          ] as const) {
            const sx = borderIndex(px + dx, plan.stored.width, border);
            const sy = borderIndex(py + dy, plan.stored.height, border);
            const ix = borderIndex(px + dx - plan.out.x + tile.x, image.width, border);
            const iy = borderIndex(py + dy - plan.out.y + tile.y, image.height, border);
            const stored = sx < 0 || sy < 0 ? -1 : from[sy * plan.stored.width + sx];
            assert.equal(stored, ix < 0 || iy < 0 ? -1 : iy * image.width + ix);
          }
        }
      }
    }),
    { numRuns: runs(2000) },
  );
});

test('the valid parts of the tiles of an image add up to the pixels that count', () => {
  fc.assert(
    fc.property(
      size,
      fc.integer({ min: 1, max: 9 }),
      mode,
      fc.integer({ min: 0, max: 3 }),
      (image, px, border, halo) => {
        let counted = 0;
        for (let y = 0; y < image.height; y += px) {
          for (let x = 0; x < image.width; x += px) {
            const tile = { x, y, width: Math.min(px, image.width - x), height: Math.min(px, image.height - y) };
            const { valid } = planRead(tile, image, halo, border);
            counted += valid.width * valid.height;
          }
        }
        const inside = Math.max(0, image.width - 2 * halo) * Math.max(0, image.height - 2 * halo);
        assert.equal(counted, border === 'interior' ? inside : image.width * image.height);
      },
    ),
  );
});
