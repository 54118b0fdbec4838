import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryRegistry, RegistryMemory } from './memory-registry.ts';
import { registryConformance } from './testing/registry-conformance.ts';

registryConformance('MemoryRegistry', async () => {
  const memory = new RegistryMemory();
  return async () => new MemoryRegistry({ memory });
});

test('a store that is told to fail writes nothing until it is told otherwise', async () => {
  const store = new MemoryRegistry();
  const epoch = (await store.acquire('test', 1000))!;
  store.failure = new Error('The disk is full');
  await assert.rejects(store.write(epoch, [{ kind: 'begin', jobId: 'a', spec: '', status: '', marks: [] }]), {
    message: 'The disk is full',
  });
  store.failure = undefined;
  assert.deepEqual(await Array.fromAsync(store.jobs()), []);
});
