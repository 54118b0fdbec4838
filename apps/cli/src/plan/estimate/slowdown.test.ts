import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { othersRunning, slowdownBy } from './slowdown.ts';

test('a machine with cores to spare slows nothing down, and one that others use in proportion', () => {
  assert.equal(slowdownBy(2, 2, 4), 1);
  assert.equal(slowdownBy(6, 2, 4), 2);
  const count = fc.integer({ min: 1, max: 64 });
  fc.assert(
    fc.property(fc.nat(100), count, count, (others, own, cores) => {
      assert.ok(slowdownBy(others, own, cores) >= 1);
      assert.ok(slowdownBy(others + 1, own, cores) >= slowdownBy(others, own, cores));
    }),
  );
});

test('what else runs is the mean of several looks, without ourselves, or the load where that is less', async () => {
  const running = [4, 9, 1, 8, 2, 3];
  assert.equal(await othersRunning(2, async () => running.shift(), 7), (2 + 7 + 0 + 6 + 0 + 1) / 6);
  // Of a system that does not tell.
  assert.equal(await othersRunning(0, async () => undefined, 7), 0);
  assert.equal(await othersRunning(1, async () => 9, 1.25), 1.25);
});
