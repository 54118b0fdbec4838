import assert from 'node:assert/strict';
import { test } from 'node:test';
import { giveBackBytes, takeBytes } from './byte-pool.ts';

test('memory that was given back is used again for a similar length, and by one user only', () => {
  const first = takeBytes(270_000);
  const memory = first.buffer;
  const second = takeBytes(270_000);
  assert.notEqual(second.buffer, memory);
  assert.deepEqual([first.length, first.byteOffset], [270_000, 0]);
  giveBackBytes(first);
  const third = takeBytes(300_000);
  assert.equal(third.buffer, memory);
  assert.equal(third.length, 300_000);
  assert.notEqual(takeBytes(270_000).buffer, memory);
  giveBackBytes(third);
  assert.notEqual(takeBytes(600_000).buffer, memory);
});

test('no more is kept than a limit', () => {
  const many = Array.from({ length: 40 }, () => takeBytes(2 ** 22));
  for (const bytes of many) giveBackBytes(bytes);
  const memories = new Set(many.map((bytes) => bytes.buffer));
  const again = Array.from({ length: 40 }, () => takeBytes(2 ** 22)).filter((bytes) => memories.has(bytes.buffer));
  assert.ok(again.length > 20 && again.length <= 32, `${again.length}`);
});
