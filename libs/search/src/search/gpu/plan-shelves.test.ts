import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bundleRows, planShelves, shelfBlockAt } from './plan-shelves.ts';

const length = 32;

test('every block lies on one shelf of its width, and is found there, or on none if no shelf takes it', () => {
  const block = fc.record({
    frames: fc.integer({ min: 1, max: 900 }),
    width: fc.constantFrom(1 as const, 2 as const, 4 as const, 8 as const),
  });
  fc.assert(
    fc.property(fc.array(block, { maxLength: 20 }), fc.integer({ min: 0, max: 4 }), (made, bundles) => {
      const places = made.map((one, segment) => ({ ...one, segment, from: 0, offset: 0, bytes: 0, crc32: 0 }));
      const maxBytes = bundles * bundleRows * length * 4;
      const shelves = planShelves(places, length, maxBytes);
      const held = shelves.flatMap(({ blocks }) => blocks.map(({ place }) => place));
      assert.equal(new Set(held).size, held.length);
      for (const place of places) {
        const fits =
          place.width !== 8 && Math.ceil(place.frames / bundleRows) * bundleRows * length * place.width <= maxBytes;
        assert.equal(held.includes(place), fits);
      }
      for (const shelf of shelves) {
        assert.ok(shelf.rows * length * shelf.width <= maxBytes && shelf.rows % bundleRows === 0);
        let row = 0;
        for (const one of shelf.blocks) {
          assert.deepEqual([one.place.width, one.first], [shelf.width, row]);
          assert.deepEqual([shelfBlockAt(shelf, row), shelfBlockAt(shelf, row + one.place.frames - 1)], [one, one]);
          row += one.place.frames;
        }
        assert.ok(shelf.rows - row < bundleRows, 'only the last bundle is filled up');
        if (row < shelf.rows) assert.equal(shelfBlockAt(shelf, row), undefined);
      }
    }),
  );
});
