import { PartReader } from '@halogrid/results/part-reader';
import type { AcceptedJob } from '../job/accepted-job.ts';
import type { SettledSources } from '../ledger/ledger.ts';
import { partPipelines, partsPath } from './write-part.ts';

/** Sources that are requested at once. */
const runSources = 4096;

/**
 * Done shards whose part is missing or too short, in order of their first source. Rows are not read, so other parts may
 * still be damaged. Rejects where a part cannot be examined for now.
 */
export async function lostShards(
  { spec }: Pick<AcceptedJob, 'spec'>,
  settled: (from: number, atMost: number) => Promise<SettledSources>,
): Promise<number[]> {
  const reader = new PartReader(partsPath(spec.out), partPipelines(spec));
  const seen = new Set<number>();
  const lost: number[] = [];
  try {
    for (let from = 0; ; ) {
      const { next, runs } = await settled(from, runSources);
      if (next === from) return lost;
      for (const run of runs) {
        if (run.kind === 'quarantined' || run.shard === undefined || seen.has(run.shard)) continue;
        seen.add(run.shard);
        if (!(await reader.has(run.found))) lost.push(run.shard);
      }
      from = next;
    }
  } finally {
    await reader.close();
  }
}
