import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenBins } from './open-bins.ts';

test('sums that may be above 32 bits are exact', () => {
  const bins = new OpenBins(2);
  const most = 2 ** 32 - 1;
  bins.makeRoomFor(most);
  bins.add(0, [most, 1], 0, 2);
  bins.makeRoomFor(2 * most);
  bins.add(0, [most, 1], 0, 2);
  assert.deepEqual([...bins.sums], [2 * most, 2]);
});
