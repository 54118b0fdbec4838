import { lstat } from 'node:fs/promises';
import { InputError } from '../input-error.ts';
import { probe } from '../remote/probe.ts';
import { remoteTarget } from '../remote/remote-target.ts';
import { isRemoteUri } from '../remote/remote-uri.ts';
import { type InputFile, openInputFile } from './input-file.ts';
import { pathOf } from './local-path.ts';

/**
 * As openInputFile, but undefined if there is surely no file: its folder or server answers that it is missing. Every
 * other failure rejects with InputError.
 */
export async function openIfThere(uri: string): Promise<InputFile | undefined> {
  try {
    return await openInputFile(uri);
  } catch (error) {
    if (error instanceof InputError && error.fault === 'access' && (await isMissing(uri))) return undefined;
    throw error;
  }
}

/** The bytes of a file, which are the caller's own; undefined if there is none. Rejects with InputError. */
export async function readIfThere(uri: string, mostBytes: number): Promise<Buffer | undefined> {
  const file = await openIfThere(uri);
  if (!file) return undefined;
  try {
    if (file.sizeBytes > mostBytes) {
      throw new InputError(
        'decode',
        `The file has ${file.sizeBytes} bytes, more than the ${mostBytes} that it may have`,
      );
    }
    return Buffer.from(await file.readAll());
  } finally {
    await file.close();
  }
}

async function isMissing(uri: string): Promise<boolean> {
  if (isRemoteUri(uri)) return (await probe(remoteTarget(uri))).kind === 'missing';
  // A link that leads nowhere is there.
  return await lstat(pathOf(uri)).then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'ENOENT' || code === 'ENOTDIR',
  );
}
