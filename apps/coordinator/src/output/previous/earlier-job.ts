import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { earlierJobPath, outputPath } from '@halogrid/jobs/output-paths';
import type { JobSpec } from '@halogrid/proto';
import type { JobClaim } from '../job-claim.ts';
import { type Following, followJob } from './follow-job.ts';

/**
 * How a job follows the complete job in its folder, also while it runs there; undefined if there is no complete job.
 */
export async function following(spec: JobSpec): Promise<Following | undefined> {
  const paths = [earlierJobPath(spec.out), join(outputPath(spec.out), 'job.json')];
  for (const path of paths) {
    const claim = await readClaim(path);
    if (claim) return claim.state === 'complete' ? followJob(claim, spec) : undefined;
  }
  return undefined;
}

async function readClaim(path: string): Promise<JobClaim | undefined> {
  try {
    const claim: JobClaim = JSON.parse(await readFile(path, 'utf8'));
    return claim.id && claim.specification ? claim : undefined;
  } catch {
    return undefined;
  }
}
