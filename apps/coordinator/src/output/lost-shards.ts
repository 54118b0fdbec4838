import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import type { AnsweredShards } from '@halogrid/ledger';
import { PartReader } from '@halogrid/results/part-reader';
import { partPipelines, partsPath } from './write-part.ts';

/** How many shards are requested at once: this many answers are read from the log in one turn. */
const runShards = 256;

/**
 * Done shards whose part is missing or too short, in order of number. They are withdrawn together, because the tables
 * are written from the beginning after each loss, and would stop at one missing part after another. Rows are not read,
 * so other parts may still be damaged. Rejects if a part cannot be examined for now.
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
