import assert from 'node:assert/strict';
import { test } from 'node:test';
import { histogramJson } from './histogram-json.ts';

test('integers are numbers up to 2^53 and strings above', () => {
  const bins = BigUint64Array.of(0n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n);
  const text = histogramJson({
    kernel: 'lbp',
    convention: 'nw-cw-msb',
    counted: 12n,
    channels: [
      { name: 'gray', bins },
      { name: '45', bins: BigUint64Array.of(1n) },
    ],
  });
  assert.deepEqual(JSON.parse(text), {
    kernel: 'lbp',
    convention: 'nw-cw-msb',
    counted: 12,
    channels: [
      { name: 'gray', bins: [0, 9007199254740992, '9007199254740993', '18446744073709551615'] },
      { name: '45', bins: [1] },
    ],
  });
});
