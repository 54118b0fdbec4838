import { jobSharesConformance } from './job-shares-conformance.ts';
import { registryConformance } from './registry-conformance.ts';
import { SharedMemoryRegistry, SharesMemory } from './shared-memory-registry.ts';

const makeDatabase = async () => {
  const memory = new SharesMemory();
  return async () => new SharedMemoryRegistry(memory);
};

jobSharesConformance('SharedMemoryRegistry', makeDatabase);
registryConformance('SharedMemoryRegistry', makeDatabase, { hasShares: true });
