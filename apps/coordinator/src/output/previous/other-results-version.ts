import { jobParts } from '@halogrid/jobs/accepted-job';
import { outputPath } from '@halogrid/jobs/output-paths';
import type { JobSpec } from '@halogrid/proto';
import { resultsVersionOf } from '@halogrid/results/list-head';
import { headOfList } from '@halogrid/results/source-list';
import { areSameResults } from '@halogrid/service/version';
import { following } from './earlier-job.ts';

/**
 * The version of the results in a job's folder, if this version would compute all of them differently, so that nothing
 * is kept. Undefined if it would not, without results, and for a job with `fresh`.
 */
export async function otherResultsVersion(spec: JobSpec): Promise<number | undefined> {
  if (spec.fresh) return undefined;
  const before = await following(spec);
  if (before?.kind !== 'follows') return undefined;
  const version = resultsVersionOf(await headOfList(outputPath(jobParts(before.there)[0].spec.out)));
  return version !== undefined && areSameResults(version, false) ? undefined : version;
}
