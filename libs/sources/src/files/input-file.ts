import { fileURLToPath } from 'node:url';
import { allowedPath } from '../access/allowed-path.ts';
import { redactUri } from '../access/redact-uri.ts';
import { InputError } from '../input-error.ts';
import { splitMember } from '../member-uri.ts';
import { RemoteFile } from '../remote/remote-file.ts';
import { isRemoteUri } from '../remote/remote-uri.ts';
import { LocalFile } from './local-file.ts';

/**
 * A file or a member of a tar, open for reading, and its first bytes, local or on a server. Gaps of up to `gapBytes`
 * are read rather than skipped, because another read costs as much.
 */
export type InputFile = LocalFile | RemoteFile;

/** Opens the file at a URI. Rejects with InputError if it cannot be read. */
export async function openInputFile(uri: string): Promise<InputFile> {
  if (isRemoteUri(uri)) return await RemoteFile.open(uri);
  return await LocalFile.open(await allowedPath(pathOf(uri)), splitMember(uri).member);
}

/** The path of a file: URI, for a member of its tar. Throws InputError if it is not a file of this machine. */
export function pathOf(uri: string): string {
  if (!uri.startsWith('file:')) {
    throw new InputError(
      'read',
      `'${redactUri(uri)}' is not supported: file:, http:, https:, s3:, gs: and az: URIs are`,
    );
  }
  try {
    return fileURLToPath(uri);
  } catch (error) {
    throw new InputError('read', `'${redactUri(uri)}' names no file on this machine: ${(error as Error).message}`);
  }
}
