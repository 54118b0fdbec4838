// For tests: ledgers over a store, as a coordinator that leads has them.
import type { JobSpec } from '@halogrid/proto';
import { createLog } from '@halogrid/service/log';
import { DurableLedger, type DurableLedgerOptions } from '../durable-ledger.ts';
import { HistogramSpool } from '../histogram-spool.ts';
import { Journal } from '../journal.ts';
import type { LedgerStore } from '../store/ledger-store.ts';
import { MemoryStore } from '../store/memory-store.ts';

/**
 * A ledger that has taken over the store and knows the jobs in it. Its epoch is the store's unless given. `lost` is told where a
 * write finds the store to be lost, which is then not answered; a read rejects. `spoolPath` is given the name of a pipeline.
 */
export async function openLedger(
  spoolPath: (name: string) => string,
  store: LedgerStore = new MemoryStore(),
  { epoch, lost }: Partial<Pick<DurableLedgerOptions, 'epoch' | 'lost'>> = {},
): Promise<DurableLedger> {
  // A lease that has ended at once leaves the way to the next one free.
  const acquired = (await store.acquire('test', 0))!;
  // Where several lead, the jobs of those before are taken over.
  const { jobs = [] } = (await store.shares?.look(acquired, new Map())) ?? {};
  const led = jobs.flatMap(({ jobId, leader }) => (leader === undefined ? [] : [{ jobId, leader }]));
  await store.shares?.adopt(acquired, led);
  const journal = new Journal({
    store,
    epoch: acquired,
    log: createLog('test', 'silent'),
    lost,
    nowMs: () => performance.now(),
  });
  const openSpool = (_spec: JobSpec, name: string) => new HistogramSpool(spoolPath(name));
  const ledger = new DurableLedger({ epoch: epoch ?? acquired, homeOf: async () => ({ journal }), openSpool });
  await ledger.load({ journal });
  return ledger;
}
