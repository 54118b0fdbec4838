import { join } from 'node:path';
import { outputPath } from '@halogrid/jobs/output-paths';
import { planDigest } from '@halogrid/jobs/plan-digest';
import type { JobResults } from '@halogrid/ledger';
import { writeFileAtomically } from '@halogrid/results';
import type { FinaliseBegun, FinishedOutput } from './finalise.ts';
import { shareJobJson } from './job-json.ts';
import { atOnce } from './output-wait.ts';
import type { TablesOutput } from './tables-output.ts';

/**
 * Ends a job that did its share: its log and the parts and chunks of its shards stay in its folder. job.json says that
 * it is a part of an output, and has the digest of the plan. Rejects with the system's error if that cannot be written.
 */
export async function finishShare(
  results: JobResults,
  { confirm = async () => {}, until = atOnce }: Pick<FinaliseBegun, 'confirm' | 'until'>,
  now: () => number,
): Promise<FinishedOutput> {
  const folder = outputPath(results.job.spec.out);
  const text = shareJobJson(results, await planDigest(results.plan()), now());
  await confirm();
  await until(() => writeFileAtomically(join(folder, 'job.json'), text));
  return { digest: '', captured: undefined };
}

/** A share has no tables. */
export const noTables: TablesOutput = {
  start() {},
  advance() {},
  finish: async () => [],
  abort: async () => {},
};
