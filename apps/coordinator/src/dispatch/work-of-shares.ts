import type { Ledger } from '@halogrid/ledger';
import { endPublishedShare, finishShare, noTables } from '../output/finish-logged.ts';
import { LostPartError } from '../output/lost-part-error.ts';
import { atOnce } from '../output/output-wait.ts';
import type { JobWork } from './job-work.ts';

/**
 * The work of whole jobs and of shares. A share makes no output, so it needs neither tables nor pictures; it ends once
 * the parts of all its shards are there.
 */
export function withShares(whole: JobWork, ledger: Pick<Ledger, 'answered'>): JobWork {
  return {
    ...whole,
    tables: (job, events) => (job.spec.share ? noTables : whole.tables(job, events)),
    pictures: (job, ...more) => (job.spec.share ? undefined : whole.pictures?.(job, ...more)),
    async finalise(results, pipeline, begun, now, signal) {
      const { jobId, spec } = results.job;
      if (!spec.share) return whole.finalise(results, pipeline, begun, now, signal);
      // Only the log of such a share was brought.
      const ended = await (begun.until ?? atOnce)(() => endPublishedShare(results));
      if (ended) return ended;
      const lost = await whole.lostShards?.({ jobId, spec }, (from, atMost) => ledger.answered(jobId, from, atMost));
      const [shard] = lost ?? [];
      if (shard !== undefined) throw new LostPartError({ message: 'A part is missing', shard, isFalse: false });
      return finishShare(results, begun, now);
    },
  };
}
