import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import { placesOf } from '@halogrid/jobs/output-paths';
import type { LogLedger } from '@halogrid/ledger';
import { JobObjects } from '../output/bucket/job-objects.ts';
import { abandonJob, finaliseJob } from '../output/finalise.ts';
import { lostShards } from '../output/lost-shards.ts';
import { releaseOutputFolder } from '../output/output-folder.ts';
import { openPictures } from '../output/pictures-ahead.ts';
import { KeptReader } from '../output/previous/kept-reader.ts';
import { openTables } from '../output/tables-file.ts';
import type { TablesEvents } from '../output/tables-output.ts';
import type { JobWork } from './job-work.ts';
import { withShares } from './work-of-shares.ts';

/**
 * The work of a job that is planned by `plan` and whose facts are in `ledger`, on real disks. `isShared`: other
 * coordinators may have led the job before.
 */
export function realWork(
  plan: JobWork['plan'],
  ledger: Pick<LogLedger, 'answered' | 'leave'>,
  isShared = false,
): JobWork {
  const placesHere = (job: Pick<AcceptedJob, 'jobId' | 'spec'>) => placesOf(job, isShared);
  /** Resolves when results that an earlier leader kept in a bucket are here, too. */
  const brought = async (job: Pick<AcceptedJob, 'jobId' | 'spec'>): Promise<void> =>
    JobObjects.of(placesHere(job))?.brought();
  const whole: JobWork = {
    plan,
    earlier: (job) => new KeptReader(job),
    tables(job, events) {
      const until: TablesEvents['until'] = (write) => events.until(() => brought(job).then(write));
      return openTables(job, { ...events, until });
    },
    pictures: (job, chosen, settled) =>
      openPictures(job, chosen, (from, atMost) => brought(job).then(() => settled(from, atMost))),
    async finalise(results, pipeline, begun, now, signal) {
      await begun.until(() => brought(results.job));
      const finished = await finaliseJob(results, pipeline, begun, now, signal);
      await JobObjects.end(placesHere(results.job));
      return finished;
    },
    async lostShards(job, answered) {
      await brought(job);
      return lostShards(job, answered);
    },
    abandon: async (job, end, finishedMs) => {
      // A ledger in the output folder is removed with it. It is left first, or writes that still wait would miss it.
      await ledger.leave(job.jobId);
      await JobObjects.end(placesHere(job));
      return abandonJob(job, end, finishedMs);
    },
    release: releaseOutputFolder,
  };
  return withShares(whole, ledger);
}
