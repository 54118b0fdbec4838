import { SharedMemoryRegistry, SharesMemory } from './shared-memory-registry.ts';
import { jobSharesConformance } from './testing/job-shares-conformance.ts';
import { registryConformance } from './testing/registry-conformance.ts';

const makeDatabase = async () => {
  const memory = new SharesMemory();
  return async () => new SharedMemoryRegistry(memory);
};

jobSharesConformance('SharedMemoryRegistry', makeDatabase);
registryConformance('SharedMemoryRegistry', makeDatabase, { hasShares: true });
