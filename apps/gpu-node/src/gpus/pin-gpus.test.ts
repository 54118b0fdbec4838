import assert from 'node:assert/strict';
import { test } from 'node:test';
import { poolThreads } from '@halogrid/threads/pool-threads';
import { threadsEach } from './pin-gpus.ts';

test('nodes share the threads, and each has at least four, or all if there are fewer', () => {
  const table: [nodes: number, threads: number, each: number][] = [
    [1, 16, 16],
    [1, 2, 2],
    [4, 16, 4],
    [3, 16, 6],
    [8, 16, 4],
    [8, 128, 16],
  ];
  for (const [nodes, threads, each] of table) assert.equal(threadsEach(nodes, threads), each);
});

test("the threads are those that were set before the start, or libuv's four", () => {
  assert.equal(poolThreads({ UV_THREADPOOL_SIZE: '12' }), 12);
  assert.equal(poolThreads({}), 4);
});
