import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { JobSpec, type Share } from '@halogrid/proto';
import { readLoggedClaim } from '../output/logged-folder.ts';

/**
 * The specification of a share of the plan in a folder, with its results in `out` (a URI). Throws UsageError if the
 * folder lacks a plan, or if another version of halogrid wrote it.
 */
export async function readPlan(folder: string, share: Omit<Share, 'plan'>, out: string): Promise<JobSpec> {
  const { specification } = await readLoggedClaim(folder, 'planned');
  const plan = pathToFileURL(resolve(folder)).href;
  return JobSpec.fromPartial({ ...specification, out, share: { ...share, plan } });
}
