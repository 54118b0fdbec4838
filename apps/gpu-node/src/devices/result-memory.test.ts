import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResultMemory } from './result-memory.ts';

const mebibyte = 2 ** 20;

test('memory that was given back is used again, memory in use is not', () => {
  const memory = new ResultMemory(8 * mebibyte);
  const first = memory.copy(new Uint8Array([1, 2, 3]));
  const second = memory.copy(new Uint8Array([4, 5]));
  assert.notEqual(first.buffer, second.buffer);
  memory.giveBack(first);
  const third = memory.copy(new Uint8Array([6]));
  assert.equal(third.buffer, first.buffer);
  assert.deepEqual([[...second], [...third]], [[4, 5], [6]]);
});

test('a small result takes no large buffer, and at most the given number of bytes is kept', () => {
  const memory = new ResultMemory(6 * mebibyte);
  const large = memory.copy(new Uint8Array(4 * mebibyte));
  const other = memory.copy(new Uint8Array(4 * mebibyte));
  memory.giveBack(large);
  assert.notEqual(memory.copy(new Uint8Array(10)).buffer, large.buffer);
  // The older buffer is dropped.
  memory.giveBack(other);
  assert.equal(memory.copy(new Uint8Array(3 * mebibyte)).buffer, other.buffer);
  assert.notEqual(memory.copy(new Uint8Array(4 * mebibyte)).buffer, large.buffer);
});
