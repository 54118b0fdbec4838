import { InputError } from '../input-error.ts';
import { type FileVersion, versionName } from '../version-name.ts';
import { versionOf } from './file-version.ts';
import { tryToGet } from './get.ts';
import { defaultRemoteLimits, type RemoteLimits } from './remote-limits.ts';
import { type RemoteTarget, remoteTarget } from './remote-target.ts';
import { TransferError } from './transfer-error.ts';

/** What one request tells about a file, without its bytes. */
export type Probe =
  | { kind: 'found'; version: FileVersion }
  /** The server says that there is none. */
  | { kind: 'missing'; sentence: string }
  /** Opening it says why. */
  | { kind: 'unknown' };

/** Asks for one byte, with patience: some servers refuse HEAD, and signatures for GET do not allow it. */
export async function probe(target: RemoteTarget, limits: RemoteLimits = defaultRemoteLimits): Promise<Probe> {
  try {
    const version = await tryToGet(target, { range: 'bytes=0-0' }, limits, async (answer) => versionOf(answer));
    return { kind: 'found', version };
  } catch (error) {
    if (error instanceof TransferError && (error.status === 404 || error.status === 410)) {
      return { kind: 'missing', sentence: error.message };
    }
    if (error instanceof TransferError || error instanceof InputError) return { kind: 'unknown' };
    throw error;
  }
}

/**
 * A name for the file at a URI as it is now, which changes when the file does. If the file cannot be read, the name is
 * its URI.
 */
export async function remoteVersion(uri: string): Promise<string> {
  const found = await probe(remoteTarget(uri));
  return found.kind === 'found' ? versionName(found.version) : uri;
}
