import type { LogLedger } from '@halogrid/ledger';
import { abandonJob, finaliseJob } from '../output/finalise.ts';
import { lostShards } from '../output/lost-shards.ts';
import { releaseOutputFolder } from '../output/output-folder.ts';
import { openPictures } from '../output/pictures-ahead.ts';
import { KeptReader } from '../output/previous/kept-reader.ts';
import { openTables } from '../output/tables-file.ts';
import type { JobWork } from './job-run.ts';
import { withShares } from './work-of-shares.ts';

/** The work of a job that is planned by `plan` and whose facts are in `ledger`, on real disks. */
export function realWork(plan: JobWork['plan'], ledger: Pick<LogLedger, 'answered' | 'leave'>): JobWork {
  const whole: JobWork = {
    plan,
    earlier: (job) => new KeptReader(job),
    tables: openTables,
    pictures: openPictures,
    finalise: finaliseJob,
    lostShards,
    abandon: async (job, end, finishedMs) => {
      // A ledger in the output folder is removed with it. It is left first, or writes that still wait would miss it.
      await ledger.leave(job.jobId);
      return abandonJob(job, end, finishedMs);
    },
    release: releaseOutputFolder,
  };
  return withShares(whole, ledger);
}
