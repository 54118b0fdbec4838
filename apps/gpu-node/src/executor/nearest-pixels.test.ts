import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearestPixel, nearestRows } from './nearest-pixels.ts';

test('the nearest pixel holds the centre, whole numbers say', () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 2 ** 20 }),
    fc.integer({ min: 1, max: 64 }),
    fc.nat(),
    (side, by, n) => {
      const [at, fullSide] = [n % side, side * by - (n % by)];
      const pixel = nearestPixel(at, side, fullSide);
      assert.equal(BigInt(pixel), ((2n * BigInt(at) + 1n) * BigInt(fullSide)) / (2n * BigInt(side)));
      assert.ok(pixel < fullSide);
      assert.equal(nearestPixel(at, side, side), at);
    },
  );
  fc.assert(property);
  assert.deepEqual(
    [0, 1, 2].map((x) => nearestPixel(x, 3, 12)),
    [2, 6, 10],
  );
});

test('groups of rows cover a part of a level once, and are short where the full picture is wide', () => {
  const [level, full] = [
    { width: 4096, height: 3000 },
    { width: 65536, height: 48000 },
  ];
  const groups = [...nearestRows({ from: { x: 5, y: 7, width: 4000, height: 100 }, to: { x: 1, y: 2 } }, level, full)];
  assert.ok(groups.every(({ from }) => from.height * 16 * from.width * 16 <= 2 ** 24 && from.x === 5));
  const rows = groups.flatMap(({ from, to }) => Array.from({ length: from.height }, (_, i) => [from.y + i, to.y + i]));
  assert.deepEqual(
    rows,
    Array.from({ length: 100 }, (_, i) => [7 + i, 2 + i]),
  );
});
