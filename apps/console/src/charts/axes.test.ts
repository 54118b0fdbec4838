import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeTick, timeTicks, valueTicks } from './axes.js';

test('values have round ticks, and times have ticks of a clock', () => {
  assert.deepEqual(valueTicks(87, 4), [0, 25, 50, 75]);
  assert.deepEqual(valueTicks(100, 4), [0, 25, 50, 75, 100]);
  assert.deepEqual(valueTicks(3.2e9, 4), [0, 1e9, 2e9, 3e9]);
  assert.deepEqual(valueTicks(0, 4), [0]);
  // Steps are whole numbers, because bins are.
  assert.deepEqual(valueTicks(9, 4), [0, 5]);
  assert.deepEqual(timeTicks(42, 6), [0, 10, 20, 30, 40]);
  assert.deepEqual(timeTicks(3600, 6), [0, 600, 1200, 1800, 2400, 3000, 3600]);
  assert.deepEqual([0, 30, 90, 600, 5400, 7200, 172_800].map(describeTick), [
    ...['0', '30 s', '1 min 30 s', '10 min', '1 h 30 min', '2 h', '2 d'],
  ]);
});

test('there are not too many steps, and none beyond the end', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-3, max: 1e12, noNaN: true }), fc.integer({ min: 2, max: 8 }), (most, count) => {
      for (const ticks of [valueTicks(most, count), timeTicks(most, count)]) {
        assert.ok(ticks.length >= 1 && ticks.length <= count + 1, `${ticks}`);
        assert.ok(ticks.at(-1)! <= most * 1.0001, `${ticks} beyond ${most}`);
      }
    }),
  );
});
