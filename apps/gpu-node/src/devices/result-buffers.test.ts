import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resultBuffers } from './serve-batches.ts';

test('a buffer that holds several arrays is listed once', () => {
  const shared = new ArrayBuffer(64);
  const own = new Uint8Array(8);
  const buffers = resultBuffers([
    { counted: 1, bins: new Uint32Array(shared, 0, 4), map: { bytes: own, stride: 8, bandBytes: 8 } },
    { counted: 1, bins: new Uint32Array(shared, 16, 4) },
  ]);
  assert.deepEqual([...buffers], [shared, own.buffer]);
});
