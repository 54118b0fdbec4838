import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryStore, SharedMemory } from './memory-store.ts';
import { ledgerStoreConformance } from './testing/ledger-store-conformance.ts';

ledgerStoreConformance('MemoryStore', async () => {
  const memory = new SharedMemory();
  return async () => new MemoryStore({ memory });
});

test('a store that is told to fail writes nothing until it is told otherwise', async () => {
  const store = new MemoryStore();
  const epoch = (await store.acquire('test', 1000))!;
  store.failure = new Error('The disk is full');
  await assert.rejects(store.write(epoch, [{ jobId: 'a', kind: 'job', key: 0, value: new Uint8Array() }]), {
    message: 'The disk is full',
  });
  store.failure = undefined;
  assert.deepEqual(await Array.fromAsync(store.entries()), []);
});
