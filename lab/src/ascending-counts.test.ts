import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@halogrid/service';
import { ascendingCounts } from './ascending-counts.ts';

test('numbers that ascend are taken and all else is refused', () => {
  const parse = ascendingCounts('--gpus', 64);
  for (const [text, counts] of [
    ['1', [1]],
    ['1,2,4,8', [1, 2, 4, 8]],
    ['3,64', [3, 64]],
  ] as const)
    assert.deepEqual(parse(text), counts);
  for (const text of ['', '0', '2,1', '1,1', '1,,2', '1,65', '1, 2', '1.5', '-1'])
    assert.throws(() => parse(text), UsageError, text);
});
