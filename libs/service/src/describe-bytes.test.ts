import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeBytes } from './describe-bytes.ts';

test('bytes have three digits', () => {
  const counts = [0, 999, 1e3, 999_499, 999_600, 2 ** 31, 5e15];
  const expected = ['0 B', '999 B', '1.00 kB', '999 kB', '1.00 MB', '2.15 GB', '5.00 PB'];
  assert.deepEqual(counts.map(describeBytes), expected);
});
