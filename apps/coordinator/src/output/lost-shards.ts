import { PartReader } from '@halogrid/results/part-reader';
import type { AcceptedJob } from '../job/accepted-job.ts';
import type { AnsweredShards } from '../ledger/ledger.ts';
import { partPipelines, partsPath } from './write-part.ts';

/** Shards that are asked for at once: so many answers are read of the log in one turn. */
const runShards = 256;

/**
 * Shards that are done and whose part is not there, or is too short to have them, in order of number. Rows are not
 * read: a part may be damaged all the same. Rejects where it cannot be known for now.
 */
export async function lostShards(
  { spec }: Pick<AcceptedJob, 'spec'>,
  answered: (from: number, atMost: number) => Promise<AnsweredShards>,
): Promise<number[]> {
  const reader = new PartReader(partsPath(spec.out), partPipelines(spec));
  const lost: number[] = [];
  try {
    for (let from = 0; ; ) {
      const { next, shards } = await answered(from, runShards);
      if (next === from) return lost;
      for (const { shard, found } of shards) if (!(await reader.has(found))) lost.push(shard);
      from = next;
    }
  } finally {
    await reader.close();
  }
}
