import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addBits,
  anyInSquare,
  type BitPlane,
  countBits,
  createBitPlane,
  cropBits,
  hasBit,
  isBlank,
  setBit,
} from './bit-plane.ts';

// Shifts across words are where bits get lost; the definitions here are loops over pixels.

const planes = fc
  .record({
    width: fc.integer({ min: 1, max: 100 }),
    height: fc.integer({ min: 1, max: 12 }),
    of: fc.integer({ min: 1, max: 40 }),
  })
  .chain(({ width, height, of }) =>
    fc.array(fc.nat(of), { minLength: width * height, maxLength: width * height }).map((picks) => {
      const plane = createBitPlane({ width, height });
      for (const [i, pick] of picks.entries()) if (pick === 0) setBit(plane, i % width, Math.floor(i / width));
      return plane;
    }),
  );

const insideOf = ({ width, height }: BitPlane) =>
  fc.tuple(fc.nat(width - 1), fc.nat(height - 1), fc.nat(), fc.nat()).map(([x, y, w, h]) => {
    return { x, y, width: 1 + (w % (width - x)), height: 1 + (h % (height - y)) };
  });

const inRect = fc.tuple(planes, fc.nat()).chain(([plane]) => fc.tuple(fc.constant(plane), insideOf(plane)));

test('a part of a plane has its bits, and as many as are counted', () => {
  fc.assert(
    fc.property(inRect, ([plane, rect]) => {
      const cropped = cropBits(plane, rect);
      let count = 0;
      for (let y = 0; y < rect.height; y++) {
        for (let x = 0; x < rect.width; x++) {
          const bit = hasBit(plane, rect.x + x, rect.y + y);
          assert.equal(hasBit(cropped, x, y), bit);
          count += Number(bit);
        }
      }
      assert.equal(countBits(plane, rect), count);
      assert.equal(isBlank(cropped), count === 0);
      // No bit beyond the width is set.
      assert.equal(countBits(cropped, { x: 0, y: 0, width: 32 * cropped.rowWords, height: rect.height }), count);
    }),
  );
});

test('bits that are added go to their place, and others stay', () => {
  fc.assert(
    fc.property(inRect, fc.nat(70), fc.nat(3), ([plane, rect], x, y) => {
      const to = createBitPlane({ width: x + rect.width + 5, height: y + rect.height + 1 });
      setBit(to, x + rect.width + 4, y);
      addBits(plane, rect, to, { x, y });
      for (let row = 0; row < to.height; row++) {
        for (let column = 0; column < to.width; column++) {
          const [inX, inY] = [column - x, row - y];
          const isIn = inX >= 0 && inX < rect.width && inY >= 0 && inY < rect.height;
          const was = column === x + rect.width + 4 && row === y;
          assert.equal(hasBit(to, column, row), was || (isIn && hasBit(plane, rect.x + inX, rect.y + inY)));
        }
      }
    }),
  );
});

test('a square of any side has a bit if one of its pixels has', () => {
  fc.assert(
    fc.property(planes, fc.nat(40), (plane, pick) => {
      const side = 1 + (pick % Math.min(plane.width, plane.height));
      const any = anyInSquare(plane, side);
      assert.deepEqual([any.width, any.height], [plane.width - side + 1, plane.height - side + 1]);
      for (let y = 0; y < any.height; y++) {
        for (let x = 0; x < any.width; x++) {
          const count = countBits(plane, { x, y, width: side, height: side });
          assert.equal(hasBit(any, x, y), count > 0);
        }
      }
    }),
  );
});
