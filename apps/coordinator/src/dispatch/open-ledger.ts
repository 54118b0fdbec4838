import { fileURLToPath } from 'node:url';
import { placesOf, scratchUri } from '@halogrid/jobs/output-paths';
import {
  BucketLogs,
  FolderLogs,
  type JobsElsewhere,
  Journal,
  type LogHome,
  LogLedger,
  type LostLedgerError,
  type Registry,
} from '@halogrid/ledger';
import type { Log } from '@halogrid/service';
import type { Clock } from '@halogrid/service/clock';
import { JobObjects } from '../output/bucket/job-objects.ts';
import { keptPartsOf, partsOf } from '../output/write-part.ts';

export interface LedgerContext {
  clock: Clock;
  log: Log;
  /** Called when a ledger in use is lost: this process can only end. */
  lost: (error: LostLedgerError) => void;
}

type Places = Pick<LogHome, 'logsOf' | 'partsOf'>;

/** Logs and parts in the output's folder. */
const inFolder: Places = {
  logsOf: (jobId, { out }) => new FolderLogs(fileURLToPath(scratchUri(out)), jobId),
  partsOf,
};

/** The same, and for an output in a bucket also there. */
const inBucketToo: Places = {
  logsOf: (jobId, spec) => {
    const { scratch, objects } = placesOf({ jobId, spec }, true);
    return objects === undefined
      ? inFolder.logsOf(jobId, spec)
      : new BucketLogs(fileURLToPath(scratch), jobId, objects);
  },
  partsOf: (spec, jobId) => keptPartsOf(spec, JobObjects.of(placesOf({ jobId, spec }, true))),
};

/** A ledger, and its view of other coordinators' jobs. */
export interface LedgerInRegistry {
  ledger: LogLedger;
  home: LogHome;
}

/**
 * The ledger of a coordinator that leads the registry with this epoch. It holds all jobs, or, if other coordinators
 * lead too (`others`), only the jobs that this one adopts. Rejects with one sentence if it is damaged.
 */
export async function openSharedLedger(
  registry: Registry,
  epoch: number,
  { clock, log, lost }: LedgerContext,
  { others, mostEnded }: { others?: JobsElsewhere | undefined; mostEnded?: number | undefined } = {},
): Promise<LedgerInRegistry> {
  const home: LogHome = {
    journal: new Journal({ registry, epoch, log, lost, nowMs: clock.monotonicMs }),
    registry,
    ...(others ? inBucketToo : inFolder),
  };
  const ledger = new LogLedger({
    epoch,
    homeOf: async () => home,
    lost,
    others,
    registry,
    mostEnded,
  });
  if (!others) await ledger.load(home);
  return { ledger, home };
}

/** A ledger that keeps each job in logs in its output folder, which are removed when the job has ended. */
export function createFolderLedger(context: LedgerContext): LogLedger {
  return new LogLedger({
    epoch: folderEpoch,
    homeOf: async () => createFolderHome(context),
    lost: context.lost,
  });
}

/** The epoch in leases. It need not change, because the nodes of an earlier process ended with that process. */
const folderEpoch = 1;

/** The home of a job whose output folder this process has claimed: any process that led it before has ended. */
export function createFolderHome({ clock, log, lost }: LedgerContext): LogHome {
  const journal = new Journal({ epoch: folderEpoch, log, lost, nowMs: clock.monotonicMs });
  return { journal, ...inFolder, leave: () => journal.close() };
}
