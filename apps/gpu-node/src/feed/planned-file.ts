import { fstatSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { allowedPath, isOfVersion, isRowUri, localVersion, quickFiles, splitMember } from '@halogrid/sources';
import type { AskedFile } from './asked-files.ts';

/** An open file. The caller that opened it must close it. */
export interface PlannedFile {
  descriptor: number;
  /** Where it begins in the open file, which is a tar if it is a member. */
  start: number;
  sizeBytes: number;
}

/**
 * Opens a file. Undefined if it cannot be read, has no bytes or more than `most`, or is not the planned version; and
 * for a row of a Parquet file, whose bytes are packed.
 */
export async function openPlanned(
  { uri, version }: AskedFile,
  most = Number.POSITIVE_INFINITY,
): Promise<PlannedFile | undefined> {
  if (isRowUri(uri)) return undefined;
  try {
    const descriptor = await quickFiles.open(await allowedPath(fileURLToPath(uri)));
    const stat = fstatSync(descriptor);
    const isSame = version === undefined || isOfVersion(localVersion(stat), version);
    const { start, length } = splitMember(uri).member ?? { start: 0, length: stat.size };
    const isHeld = stat.isFile() && length > 0 && start + length <= stat.size;
    if (isHeld && length <= most && isSame) return { descriptor, start, sizeBytes: length };
    await quickFiles.close(descriptor);
  } catch {
    // Cores will open it again and report why.
  }
  return undefined;
}

/** Never rejects. */
export async function closePlanned({ descriptor }: PlannedFile): Promise<void> {
  try {
    await quickFiles.close(descriptor);
  } catch {
    // The file was read, so this does not matter.
  }
}

/** Fills `into` from byte `position` of a file; false if the file ends before that, or cannot be read. */
export async function readPlanned(file: PlannedFile, into: Uint8Array, position: number): Promise<boolean> {
  const { descriptor, start, sizeBytes } = file;
  if (position + into.length > sizeBytes) return false;
  try {
    for (let done = 0; done < into.length; ) {
      const rest = done === 0 ? into : into.subarray(done);
      const read = await quickFiles.read(descriptor, rest, start + position + done);
      if (read === 0) return false;
      done += read;
    }
    return true;
  } catch {
    return false;
  }
}
