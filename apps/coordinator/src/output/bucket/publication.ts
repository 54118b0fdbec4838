import { Buffer } from 'node:buffer';
import { type BucketPrefix, TransferError, type WholeUpload } from '@halogrid/sources';
import { forEachLimited } from '@halogrid/threads';
import { endHead, type Head } from './bucket-claims.ts';
import { isOfOutput } from './is-of-output.ts';
import { removeJobObjects } from './job-objects.ts';
import { requestsAtOnce } from './requests-at-once.ts';

/**
 * An output whose files are all in the bucket, as uploads that only have to be completed. From then on any coordinator
 * can publish it, also if the machine of its leader is lost.
 */
export interface Publication {
  uploads: WholeUpload[];
  /** Names of the earlier output that the new one lacks. */
  removed: string[];
  /** job.json while the earlier output is being replaced, if there is one. */
  replacing?: WholeUpload;
  /** job.json, which comes last. */
  manifest: WholeUpload;
}

const nameOf = ({ number }: Head): string => `.halogrid/publication-${number}.json`;

export async function readPublication(prefix: BucketPrefix, head: Head): Promise<Publication | undefined> {
  const bytes = await prefix.get(nameOf(head));
  return bytes && JSON.parse(bytes.toString());
}

/** Notes a publication, unless another leader of the same job has noted one: then that one is published. */
export async function createPublication(prefix: BucketPrefix, head: Head, publication: Publication): Promise<void> {
  await prefix.create(nameOf(head), Buffer.from(JSON.stringify(publication)));
}

/**
 * Makes the files of the output appear, job.json last, and ends the claim. It may be interrupted at any point, and is
 * then repeated from the start. A job that takes over from another aborts its uploads, so that nothing more appears.
 */
export async function publish(prefix: BucketPrefix, head: Head, publication: Publication): Promise<void> {
  const { uploads, removed, replacing, manifest } = publication;
  const isPublished = (await prefix.head('job.json'))?.tag === manifest.tag;
  if (!isPublished) {
    if (replacing) await prefix.uploads.complete(replacing);
    await forEachLimited(uploads, requestsAtOnce, (upload) => complete(prefix, upload));
    await forEachLimited(removed, requestsAtOnce, (name) => prefix.remove(name));
    await complete(prefix, manifest);
  }
  // What another leader of the job has sent meanwhile must not appear later.
  await prefix.uploads.abortAll(isOfOutput);
  await removeJobObjects(prefix, head.claim!.id);
  await endHead(prefix, head);
  await prefix.remove(nameOf(head));
}

async function complete(prefix: BucketPrefix, upload: WholeUpload): Promise<void> {
  if (await prefix.uploads.complete(upload)) return;
  throw new TransferError(
    `The store has forgotten the upload of '${prefix.uriOf(upload.name)}': another job has taken the output over, or a rule of the bucket removes uploads early`,
  );
}
