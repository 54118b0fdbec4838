import { hostname } from 'node:os';
import type { JobSpec } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { histogramSpoolPath, ledgerPath } from '../job/output-paths.ts';
import { DurableLedger, type DurableLedgerOptions, type JobHome, type OtherJobs } from '../ledger/durable-ledger.ts';
import { HistogramSpool } from '../ledger/histogram-spool.ts';
import { Journal } from '../ledger/journal.ts';
import type { LedgerStore } from '../ledger/store/ledger-store.ts';
import { SqliteStore } from '../ledger/store/sqlite-store.ts';
import { Summaries } from '../ledger/summaries.ts';
import type { LostLedgerError } from '../registry/ledger-errors.ts';
import type { Clock } from './clock.ts';

export interface LedgerContext {
  clock: Clock;
  log: Log;
  /** Told where a ledger is lost while it is in use: this process can only end. */
  lost: (error: LostLedgerError) => void;
}

const openSpool = ({ out }: JobSpec, name: string): HistogramSpool => new HistogramSpool(histogramSpoolPath(out, name));

/** A ledger, and where the jobs are that it leads. */
export interface LedgerInStore {
  ledger: DurableLedger;
  home: JobHome;
}

/**
 * The ledger of a coordinator that leads the store with this epoch: with all of its jobs, or, where `others` leads too, with those that
 * it adopts. Rejects with one sentence where it is damaged.
 */
export async function openSharedLedger(
  store: LedgerStore,
  epoch: number,
  { clock, log, lost }: LedgerContext,
  others?: OtherJobs,
): Promise<LedgerInStore> {
  const journal = new Journal({ store, epoch, log, lost, nowMs: clock.monotonicMs });
  const ledger = new DurableLedger({
    epoch,
    homeOf: async () => ({ journal }),
    openSpool,
    summaries: new Summaries(),
    lost,
    ...(others && { others }),
  });
  const home: JobHome = { journal };
  if (!others) await ledger.load(home);
  return { ledger, home };
}

/** A ledger that keeps each job in a file in its output folder, which goes when the job has ended. */
export function createFolderLedger(context: LedgerContext): DurableLedger {
  // Leases carry it. Nodes of an earlier process ended with it.
  const epoch = 1;
  const homeOf: DurableLedgerOptions['homeOf'] = ({ out }) => openFolderHome(out, context);
  return new DurableLedger({ epoch, homeOf, openSpool, summaries: new Summaries(), lost: context.lost });
}

/** A job of one shard gives its ledger ten. */
const ordersOfSmallJob = 32;

/**
 * The home of the job in this output folder, which this process has claimed: whoever leads it has ended. Rejects with one
 * sentence.
 */
export async function openFolderHome(out: string, { clock, log, lost }: LedgerContext): Promise<JobHome> {
  const store = await SqliteStore.open(ledgerPath(out), ordersOfSmallJob);
  // A lease that has ended at once is in nobody's way, and the epoch guards all the same.
  const epoch = await store.acquire(`process ${process.pid} on ${hostname()}`, 0);
  if (epoch === undefined) {
    await store.close();
    throw new Error(`The ledger '${ledgerPath(out)}' is led by another process`);
  }
  const journal = new Journal({ store, epoch, log, lost, nowMs: clock.monotonicMs });
  const leave = async (): Promise<void> => {
    await journal.close();
    await store.close();
  };
  return { journal, leave };
}
