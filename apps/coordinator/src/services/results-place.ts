import { realpath } from 'node:fs/promises';
import { outputPath } from '@halogrid/jobs/output-paths';
import { Refusal } from '@halogrid/jobs/refusal';
import type { JobRecord, Ledger } from '@halogrid/ledger';
import { type Place, placeAt } from '@halogrid/results/place';
import { isBucketUri } from '@halogrid/sources/prefix-uri';
import { findJob } from './match-job-id.ts';
import { whileReadable } from './while-readable.ts';

/** The bytes of job.json that have its id. The rest is not read: it may be long, because it names every source. */
const headBytes = 256;

/** Where the results of a complete job are. Rejects with Refusal unless it is complete and they are still there. */
export async function resultsPlace(ledger: Ledger, given: string): Promise<Place> {
  const { jobId, state, spec } = await findJob(ledger, given);
  if (state !== 'complete') throw new Refusal('unmet', `Job ${jobId} is ${state}: only complete jobs have results`);
  const place = await placeOf(spec);
  if (place && (await whileReadable(idOfResults(place))) === jobId) return place;
  const where = isBucketUri(spec.out) ? `in '${spec.out}'` : 'where it wrote them, or not on this machine';
  throw new Refusal('gone', `The results of job ${jobId} are no longer ${where}`);
}

/** Undefined if there is no such folder on this machine. */
async function placeOf({ out }: JobRecord['spec']): Promise<Place | undefined> {
  if (isBucketUri(out)) return placeAt(out);
  const folder = await realpath(outputPath(out)).catch(() => undefined);
  return folder === undefined ? undefined : placeAt(folder);
}

/** The id at the head of job.json; undefined without such a file. */
async function idOfResults(place: Place): Promise<string | undefined> {
  const head = await (await place.in('job.json').file())?.read(0, headBytes);
  return head && /^\{\s*"id": "([^"\\]+)"/.exec(head.toString())?.[1];
}
