// For tests: ledgers over a store, as a coordinator that leads has them.
import { createLog } from '@halogrid/service/log';
import { DurableLedger } from './durable-ledger.ts';
import { HistogramSpool } from './histogram-spool.ts';
import { Journal } from './journal.ts';
import type { LedgerStore } from './store/ledger-store.ts';
import { MemoryStore } from './store/memory-store.ts';

/** A ledger that has taken over the store, with an epoch of at least `atLeast`, and knows the jobs in it. */
export async function openLedger(
  spoolPath: () => string,
  store: LedgerStore = new MemoryStore(),
  atLeast = 1,
): Promise<DurableLedger> {
  let epoch = 0;
  // A lease that has ended at once leaves the way to the next one free.
  while (epoch < atLeast) epoch = (await store.acquire('test', 0)) ?? 0;
  const journal = new Journal({
    store,
    epoch,
    log: createLog('test', 'silent'),
    nowMs: () => performance.now(),
  });
  const openSpool = () => new HistogramSpool(spoolPath());
  const ledger = new DurableLedger({ epoch, homeOf: async () => ({ journal }), openSpool });
  await ledger.load({ journal });
  return ledger;
}
