import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { allowedPath } from '../access/allowed-path.ts';
import { InputError } from './input-error.ts';
import { remoteVersion } from './remote/probe.ts';
import { isRemoteUri } from './remote/remote-uri.ts';

/** A name for the source as it is now, which changes when it is written to. A source that is not there is its URI. */
export async function sourceVersion(uri: string): Promise<string> {
  return isRemoteUri(uri) ? await versionOnServer(uri) : await versionOfFile(uri);
}

/** 32 bits of `sourceVersion`, above 0. */
export function shortVersion(version: string): number {
  return crc32(version) || 1;
}

async function versionOfFile(uri: string): Promise<string> {
  try {
    const { size, mtimeMs } = await stat(await allowedPath(fileURLToPath(uri)));
    return `${uri} ${size} ${mtimeMs}`;
  } catch {
    return uri;
  }
}

async function versionOnServer(uri: string): Promise<string> {
  try {
    return await remoteVersion(uri);
  } catch (error) {
    if (error instanceof InputError && !error.mayPass) return uri;
    throw error;
  }
}
