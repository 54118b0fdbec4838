import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTwinDevice } from './cpu-device.ts';
import { deviceOver } from './device-over.ts';

test("a device over another one has its own members, also those assigned later; all others are the inner device's present ones", async () => {
  const inner = openTwinDevice();
  try {
    const lost = Promise.resolve('gone');
    const over = deviceOver(inner, { batchBytes: 7, lost });
    assert.deepEqual([over.batchBytes, over.lost], [7, lost]);
    assert.deepEqual(over.info, inner.info);
    const before = over.heldBytes;
    const { bytes } = await over.acquire(64);
    assert.ok(bytes.length >= 64);
    assert.equal(over.heldBytes, inner.heldBytes);
    assert.notEqual(over.heldBytes, before);
    over.close = async () => {};
    await over.close();
    (await inner.acquire(64)).release();
  } finally {
    await inner.close();
  }
});
