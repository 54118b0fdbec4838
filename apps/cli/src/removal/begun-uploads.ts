import { BucketPrefix } from '@halogrid/sources/bucket-prefix';
import type { BegunUpload } from './stray-uploads.ts';

/** All uploads below an s3: URI that were neither completed nor aborted. */
export async function listBegun(uri: string): Promise<BegunUpload[]> {
  const prefix = new BucketPrefix(uri);
  const begun: BegunUpload[] = [];
  for await (const { name, ...upload } of prefix.uploads.list()) begun.push({ uri: prefix.uriOf(name), ...upload });
  return begun;
}

/** Aborts uploads that listBegun found below the same URI. */
export async function abortBegun(uri: string, begun: readonly BegunUpload[]): Promise<void> {
  const prefix = new BucketPrefix(uri);
  const start = prefix.uriOf('').length;
  for (const { uri, id } of begun) await prefix.uploads.abort({ name: uri.slice(start), id });
}
