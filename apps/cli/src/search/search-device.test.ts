import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWorthGpu } from './search-device.ts';

test('threads answer one query, because they read the index as fast; a GPU answers hundreds', () => {
  const rows: [bytes: number, queries: number, cores: number, isWorth: boolean][] = [
    [1e6, 1000, 2, false],
    [1e9, 1, 2, false],
    [1e9, 16, 2, false],
    [1e9, 1000, 2, true],
    [41e9, 1, 16, false],
    [41e9, 1000, 16, true],
  ];
  for (const [bytes, queries, cores, isWorth] of rows)
    assert.equal(isWorthGpu(bytes, queries, cores), isWorth, `${bytes} bytes, ${queries} queries, ${cores} cores`);
});
