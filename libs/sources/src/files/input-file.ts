import { allowedPath } from '../access/allowed-path.ts';
import { splitMember } from '../member-uri.ts';
import { RemoteFile } from '../remote/remote-file.ts';
import { isRemoteUri } from '../remote/remote-uri.ts';
import { isRowUri } from '../row-uri.ts';
import type { HeldFile } from './held-file.ts';
import { LocalFile } from './local-file.ts';
import { pathOf } from './local-path.ts';

/**
 * A file or a member of a tar, open for reading, and its first bytes, local or on a server; or the image of a row, in
 * memory. Gaps of up to `gapBytes` are read rather than skipped, because another read costs as much.
 */
export type InputFile = LocalFile | RemoteFile | HeldFile;

/** Opens the file at a URI. Rejects with InputError if it cannot be read. */
export async function openInputFile(uri: string): Promise<InputFile> {
  if (isRowUri(uri)) return await (await import('./open-row.ts')).openRow(uri);
  if (isRemoteUri(uri)) return await RemoteFile.open(uri);
  return await LocalFile.open(await allowedPath(pathOf(uri)), splitMember(uri).member);
}
