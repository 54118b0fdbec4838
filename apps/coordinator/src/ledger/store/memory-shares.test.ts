import { SharedMemoryStore, SharesMemory } from './memory-shares.ts';
import { jobSharesConformance } from './testing/job-shares-conformance.ts';
import { ledgerStoreConformance } from './testing/ledger-store-conformance.ts';

const makeDatabase = async () => {
  const memory = new SharesMemory();
  return async () => new SharedMemoryStore(memory);
};

jobSharesConformance('SharedMemoryStore', makeDatabase);
ledgerStoreConformance('MemoryStore', makeDatabase, { hasShares: true });
