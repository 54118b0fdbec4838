// For tests: answers to shards whose parts are files.

import { jobGrid } from '@halogrid/jobs/accepted-job';
import type { PlanStep, Shard } from '@halogrid/jobs/shard';
import type { ShardCommit } from '@halogrid/ledger';
import { resultsOf } from '@halogrid/ledger/testing-ledger-scene';
import { foundShard, shapesOf } from '@halogrid/ledger/testing-memory-parts';
import type { JobSpec } from '@halogrid/proto';
import { partsOf } from '../output/write-part.ts';

/** As `commitOf`, with the results of frames in a part of the job, whose scratch folder must exist. */
export async function writtenCommit(
  spec: JobSpec,
  shard: Shard,
  steps: PlanStep[],
  broken = new Set<number>(),
): Promise<ShardCommit> {
  const commit = resultsOf(shard, steps, broken, jobGrid(spec));
  if (shard.work.kind === 'tile') return commit;
  const [found] = await partsOf(spec)([foundShard(shard.work.sources.block, commit.results, shapesOf(spec))]);
  return { ...commit, results: [], found: found! };
}
