import { JobSpec, type Share } from '@halogrid/proto';
import { placeAt } from '@halogrid/results/place';
import { readLoggedClaim } from '../output/logged-output.ts';

/**
 * The specification of a share of the plan at a path or s3: URI, with its results in `out` (a URI). Throws UsageError
 * if there is no plan, or if another version of halogrid wrote it.
 */
export async function readPlan(at: string, share: Omit<Share, 'plan'>, out: string): Promise<JobSpec> {
  const { specification } = await readLoggedClaim(at, 'planned');
  return JobSpec.fromPartial({ ...specification, out, share: { ...share, plan: placeAt(at).uri } });
}
