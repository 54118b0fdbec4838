import { Buffer } from 'node:buffer';
import type { BucketPrefix } from '@halogrid/sources';
import type { JobClaim } from '../job-claim.ts';

/*
 * Which job may write an output in a bucket. Each claim is an object of its own, created if absent, and never changed:
 * the last one counts. A job's claim is followed by an object that says that the job has ended, or by the claim of the
 * job that takes over from it. Numbers are never used again, so a store that lists late misleads nobody: from the last
 * listed claim on, each next one is asked for.
 */

/** The last claim. */
export interface Head {
  /** 0 if there was none yet. */
  number: number;
  /** The job that has the output; undefined if that job has ended. */
  claim: JobClaim | undefined;
}

/** Where claims are. They are never removed. */
export const claimsFolder = '.halogrid/claims/';
const nameOf = (number: number): string => `${claimsFolder}${String(number).padStart(8, '0')}.json`;
const pattern = /^\.halogrid\/claims\/([0-9]{8})\.json$/;

/** The URI of the object of a claim, for people. */
export const claimUri = (prefix: BucketPrefix, { number }: Head): string => prefix.uriOf(nameOf(number));

export async function readHead(prefix: BucketPrefix): Promise<Head> {
  let number = 0;
  for await (const { name } of prefix.list(claimsFolder))
    number = Math.max(number, Number(pattern.exec(name)?.[1] ?? 0));
  let last = number > 0 ? await prefix.get(nameOf(number)) : undefined;
  for (;;) {
    const next = await prefix.get(nameOf(number + 1));
    if (!next) break;
    last = next;
    number++;
  }
  const claim: JobClaim | undefined = last && JSON.parse(last.toString());
  return { number, claim: claim?.state === 'running' ? claim : undefined };
}

/** Claims the output after `head`. Returns false if another program was faster. `text`: job.json of a running job. */
export const takeHead = (prefix: BucketPrefix, head: Head, text: string): Promise<boolean> =>
  prefix.create(nameOf(head.number + 1), Buffer.from(text));

/** Whether nobody has claimed the output after `head`. */
export const hasHead = async (prefix: BucketPrefix, { number }: Head): Promise<boolean> =>
  (await prefix.head(nameOf(number + 1))) === undefined;

/** The job of `head` has ended. Does nothing if another job has taken over from it. */
export async function endHead(prefix: BucketPrefix, { number, claim }: Head): Promise<void> {
  const text = `${JSON.stringify({ id: claim?.id, state: 'ended' })}\n`;
  await prefix.create(nameOf(number + 1), Buffer.from(text));
}
