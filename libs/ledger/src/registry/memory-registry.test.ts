import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryRegistry, RegistryMemory } from './memory-registry.ts';
import { registryConformance } from './testing/registry-conformance.ts';

registryConformance('MemoryRegistry', async () => {
  const memory = new RegistryMemory();
  return async () => new MemoryRegistry({ memory });
});

test('a registry that is told to fail writes nothing until it is told to work again', async () => {
  const registry = new MemoryRegistry();
  const epoch = (await registry.acquire('test', 1000))!;
  registry.failure = new Error('The disk is full');
  await assert.rejects(registry.write(epoch, [{ kind: 'begin', jobId: 'a', spec: '', status: '', marks: [] }]), {
    message: 'The disk is full',
  });
  registry.failure = undefined;
  assert.deepEqual(await Array.fromAsync(registry.jobs()), []);
});
