import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SourceResult } from '../shard.ts';
import { Merge } from './merge.ts';

const shape = { channels: 1, bins: 2 };

test('sums beyond 2^53 are exact', () => {
  const merge = new Merge(shape);
  const huge = { width: 2 ** 31, height: 2 ** 22 };
  const odd = 2 ** 53 - 1;
  for (let source = 0; source < 5; source++) {
    merge.addSource(`file:///${source}`, String(source), 1);
    merge.add([{ source, size: huge, rect: { x: 0, y: 0, ...huge }, counted: odd, bins: [odd, 0] }]);
  }
  assert.equal(merge.counted, 5n * BigInt(odd));
  assert.deepEqual(merge.bins, BigUint64Array.of(5n * BigInt(odd), 0n));
});

test('a cut source counts nothing until its last tile is in', () => {
  const merge = new Merge(shape);
  merge.addSource('file:///a', 'a', 2);
  merge.add([tileOf(0, 0, [1, 0])]);
  assert.deepEqual([merge.counted, merge.pixels, merge.done], [0n, 1, 0]);
  merge.add([tileOf(0, 1, [0, 1])]);
  assert.deepEqual([merge.counted, merge.pixels, merge.done], [2n, 2, 1]);
  assert.deepEqual(merge.bins, BigUint64Array.of(1n, 1n));
});

test('a source that fails counts nothing, whatever came before or comes later', () => {
  const merge = new Merge(shape);
  merge.addSource('file:///a', 'a', 3);
  merge.add([tileOf(0, 0, [1, 0])]);
  merge.quarantine(0, { stage: 'decode', error: 'broken at 1', attempts: 1, shard: 1 });
  merge.add([tileOf(0, 2, [1, 0])]);
  assert.deepEqual([merge.counted, merge.pixels, merge.done, merge.quarantined], [0n, 0, 0, 1]);
  assert.deepEqual(merge.bins, BigUint64Array.of(0n, 0n));
});

test('of several failures of a source that of the lowest shard is told, in whatever order they came', () => {
  const reasons = [2, 1, 3].map((shard) => ({ stage: 'read', error: `at ${shard}`, attempts: 1, shard }));
  const merge = new Merge(shape);
  merge.addSource('file:///a', 'a', 3);
  for (const reason of reasons) merge.quarantine(0, reason);
  const [outcome] = merge.outcomes();
  assert.deepEqual([outcome?.state === 'quarantined' && outcome.error, merge.quarantined], ['at 1', 1]);
});

test('outcomes are asked for too early while a source is open', () => {
  const merge = new Merge(shape);
  merge.addSource('file:///a', 'a', 2);
  merge.add([tileOf(0, 0, [1, 0])]);
  assert.throws(() => merge.outcomes(), /Source 0 still waits for 1 results/);
});

/** The result of one pixel of a row. */
function tileOf(source: number, x: number, bins: number[]): SourceResult {
  return { source, size: { width: 3, height: 1 }, rect: { x, y: 0, width: 1, height: 1 }, counted: 1, bins };
}
