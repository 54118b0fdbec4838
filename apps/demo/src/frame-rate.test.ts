import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameRate } from './frame-rate.js';

test('frames at a steady interval give its rate, whatever came before the last second', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.array(fc.nat(2000), { maxLength: 5 }), (distanceMs, earlier) => {
      const rate = new FrameRate();
      for (const ms of earlier.toSorted((a, b) => a - b)) rate.add(ms);
      let found = 0;
      for (let ms = 5000; ms <= 7000; ms += distanceMs) found = rate.add(ms);
      assert.ok(Math.abs(found - 1000 / distanceMs) < 1e-9);
    }),
  );
});

test('one frame gives no rate', () => {
  const rate = new FrameRate();
  assert.equal(rate.add(1), 0);
  assert.equal(rate.add(11), 100);
  rate.clear();
  assert.equal(rate.add(21), 0);
});
