import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MissingDecoderError } from '@halogrid/imaging';
import {
  allowedPath,
  changedInput,
  InputError,
  isOfVersion,
  isRemoteUri,
  isRowUri,
  isStatedVersion,
  localVersion,
  ofNamedFile,
  openSlideOf,
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

/**
 * Throws InputError if the version is not the planned one, if that is known. Throws MissingDecoderError if a slide was
 * planned with another OpenSlide, whose pixels may differ.
 */
export function checkVersion(now: string | undefined, planned: string | undefined): void {
  if (planned === undefined || isOfVersion(now, planned)) return;
  if (now !== undefined) checkSlide(now, planned);
  if (isStatedVersion(planned)) throw changedInput(`The file is not what its manifest states (${planned})`);
  throw changedInput('The file is not what it was when the job was planned: it has been written to or replaced');
}

/** The coordinator sees only the file that is named, so a change of the others is not told as a change of that. */
function checkSlide(now: string, planned: string): void {
  const [here, there] = [openSlideOf(now), openSlideOf(planned)];
  if (here === undefined || there === undefined) return;
  if (here !== there)
    throw new MissingDecoderError('slide', `OpenSlide ${here} is here, and the coordinator has ${there}`);
  if (ofNamedFile(now) === ofNamedFile(planned))
    throw new InputError('decode', 'Files beside the slide are not what they were when the job was planned');
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
    // The file has many rows, and to read it was no error.
    if (isRowUri(source.uri)) return error;
    const { sizeBytes } = await showFile(source.uri, false);
    if (sizeBytes <= wholeBytes) await showFile(source.uri, true);
    return error;
  } catch (reason) {
    if (reason instanceof InputError) return reason;
    throw reason;
  }
}
