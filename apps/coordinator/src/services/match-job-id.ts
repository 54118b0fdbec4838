import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import { shortened } from '@halogrid/kernels';
import type { JobRecord, Ledger } from '@halogrid/ledger';

/** The job that `given` means; see `matchJobId`. A whole id is looked up without listing jobs. Rejects with Refusal. */
export async function findJob(ledger: Pick<Ledger, 'getJob' | 'listJobs'>, given: string): Promise<JobRecord> {
  const job = await ledger.getJob(given);
  if (job) return job;
  const jobs = await ledger.listJobs();
  const ids = jobs.map(({ jobId }) => jobId);
  return jobs[ids.indexOf(matchJobId(given, ids))]!;
}

/** The fewest characters of a part of an id: with fewer, a word that was meant differently could cancel a job. */
const leastCharacters = 4;

/** How many ids a sentence names. */
const mostNamed = 5;

/**
 * The id that `given` means: that id, or the only one that begins or ends with it. `ids`: all ids, newest first. Throws
 * Refusal, whose sentence names ids that could be meant: 'invalid' if `given` is a part of several ids or too short,
 * 'missing' if no id has it.
 */
export function matchJobId(given: string, ids: readonly string[]): string {
  if (ids.includes(given)) return given;
  const meant = ids.filter((id) => id.startsWith(given) || id.endsWith(given));
  if (meant.length > 0 && given.length < leastCharacters) {
    refuseValue('the beginning or the ending of an id', given, `at least ${leastCharacters} characters`, 'job_id');
  }
  if (meant.length === 1) return meant[0]!;
  if (meant.length > 1) {
    const sentence = `'${shortened(given)}' is ${partOf(given, meant)} of several ids: ${nameSome(meant)}`;
    throw new Refusal('invalid', sentence, 'job_id');
  }
  const newest = ids.length > 0 ? `; the newest are ${nameSome(ids)}` : '';
  throw new Refusal(
    'missing',
    `There is no job '${shortened(given)}'${ids.length === 1 ? `; there is ${ids[0]}` : newest}`,
    'job_id',
  );
}

function partOf(given: string, ids: readonly string[]): string {
  if (ids.every((id) => id.startsWith(given))) return 'the beginning';
  return ids.every((id) => id.endsWith(given)) ? 'the ending' : 'the beginning or the ending';
}

function nameSome(ids: readonly string[]): string {
  const named = ids.slice(0, mostNamed).join(', ');
  return ids.length > mostNamed ? `${named} and ${ids.length - mostNamed} more` : named;
}
