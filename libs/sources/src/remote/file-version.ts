import type { IncomingHttpHeaders } from 'node:http';
import type { FileVersion } from '../version-name.ts';
import type { HttpAnswer } from './ask.ts';
import { TransferError } from './transfer-error.ts';

export function versionOf({ status, headers }: HttpAnswer): FileVersion {
  const { etag, 'last-modified': lastModified } = headers;
  return { etag, lastModified, sizeBytes: status === 206 ? contentRange(headers).total : contentLength(headers) };
}

/** The headers that make a server refuse another version. A weak ETag stands for several versions. */
export function onlyThisVersion({ etag, lastModified }: FileVersion): Record<string, string> {
  if (etag?.startsWith('"')) return { 'if-match': etag };
  return lastModified ? { 'if-unmodified-since': lastModified } : {};
}

/** Throws TransferError if an answer is of another version; servers need not know the headers for that. */
export function checkSameVersion(expected: FileVersion, answer: HttpAnswer): void {
  const now = versionOf(answer);
  const differs = (['etag', 'lastModified', 'sizeBytes'] as const).find(
    (key) => expected[key] !== undefined && now[key] !== undefined && expected[key] !== now[key],
  );
  if (differs) throw changed(`${names[differs]} was ${expected[differs]} and is ${now[differs]}`);
}

/** The error for an answer that says that conditions or a range cannot be met. */
export function changed(how: string): TransferError {
  return new ChangedFileError(`The file changed while it was read: ${how}`);
}

/** A request was answered with another version of the file than the one that is being read. */
export class ChangedFileError extends TransferError {}

const names = { etag: 'its ETag', lastModified: 'its time of change', sizeBytes: 'its size in bytes' };

/**
 * The place in the file of a 206's body, and the length of the whole file, if the server knows it. Throws TransferError
 * if the answer does not say which part it has.
 */
export function contentRange(headers: IncomingHttpHeaders): { start: number; end: number; total: number | undefined } {
  const [, first, last, total] =
    /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(headers['content-range'] ?? '') ?? [];
  if (total === undefined) {
    throw new TransferError('The server sends a part of the file without saying which part of how many bytes');
  }
  return { start: Number(first), end: Number(last) + 1, total: total === '*' ? undefined : Number(total) };
}

function contentLength(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['content-length'];
  return text === undefined ? undefined : Number(text);
}
