import { ledgerConformance } from './ledger-conformance.ts';
import { MemoryLedger } from './memory-ledger.ts';

ledgerConformance('MemoryLedger', async (epoch) => new MemoryLedger(epoch));
