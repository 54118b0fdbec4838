import { readFile } from 'node:fs/promises';
import type { JobSpec } from '@halogrid/proto';
import { earlierJobPath } from '../../job/output-paths.ts';
import type { JobClaim } from '../job-json.ts';

/**
 * What is to be told of a job that adds maps to the results in its folder, in one sentence; undefined of any other. Maps are made
 * of the pixels of a source, so that its histograms are computed again as well, and come out the same.
 */
export async function addedMapsSentence({ out, mapFormat }: JobSpec): Promise<string | undefined> {
  const text = await readFile(earlierJobPath(out), 'utf8').catch(() => undefined);
  if (text === undefined || mapFormat === 'none') return undefined;
  const { id, specification }: JobClaim = JSON.parse(text);
  if (specification.mapFormat !== 'none') return undefined;
  return `The results of job ${id} in the folder have no maps: every source is computed again, to add maps as ${mapFormat}`;
}
