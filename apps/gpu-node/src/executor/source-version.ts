import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  allowedPath,
  changedInput,
  InputError,
  isOfVersion,
  isRemoteUri,
  isStatedVersion,
  localVersion,
  remoteVersion,
  showFile,
} from '@halogrid/sources';
import type { LeasedSource } from './unpack-lease.ts';

/**
 * A name for the current content of a source, which changes when the source is written to. For a missing source, its
 * URI.
 */
export async function sourceVersion(uri: string): Promise<string> {
  return isRemoteUri(uri) ? await versionOnServer(uri) : await versionOfFile(uri);
}

/** Throws InputError if the version is not the planned one, if that is known. */
export function checkVersion(now: string | undefined, planned: string | undefined): void {
  if (planned === undefined || isOfVersion(now, planned)) return;
  if (isStatedVersion(planned)) throw changedInput(`The file is not what its manifest states (${planned})`);
  throw changedInput('The file is not what it was when the job was planned: it has been written to or replaced');
}

/**
 * Throws InputError if a source is no longer the planned version after it was read. A server needs no check: each
 * request asked for that version alone.
 */
export async function checkStillVersion({ uri, version }: LeasedSource): Promise<void> {
  if (version !== undefined && !isRemoteUri(uri)) checkVersion(await versionOfFile(uri), version);
}

async function versionOfFile(uri: string): Promise<string> {
  try {
    return localVersion(await stat(await allowedPath(fileURLToPath(uri))));
  } catch {
    return uri;
  }
}

async function versionOnServer(uri: string): Promise<string> {
  try {
    return await remoteVersion(uri);
  } catch (error) {
    if (error instanceof InputError) return uri;
    throw error;
  }
}

/** A file is read once more up to this size; of a longer one, only both ends. */
const wholeBytes = 2 ** 30;

/**
 * Why bytes look damaged or cut off: perhaps the file is being written, or a decoder took a read error for its end.
 * Returns `error` itself if the file can be read and is the listed version. On servers each request named the version,
 * and every failure was seen.
 */
export async function deeperReason(source: LeasedSource, error: InputError): Promise<InputError> {
  if (isRemoteUri(source.uri)) return error;
  try {
    await checkStillVersion(source);
    const { sizeBytes } = await showFile(source.uri, false);
    if (sizeBytes <= wholeBytes) await showFile(source.uri, true);
    return error;
  } catch (reason) {
    if (reason instanceof InputError) return reason;
    throw reason;
  }
}
