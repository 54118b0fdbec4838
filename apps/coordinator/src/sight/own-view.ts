import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freeBytes, tryWrite } from '@halogrid/results';
import { InputError, type InputFault, isRemoteUri, type ShownFile, showFile } from '@halogrid/sources';

/** What the coordinator finds at a place itself. */
export type OwnView =
  /** The file, as it is there now. */
  | { kind: 'there'; file: ShownFile }
  /** It cannot be read here, for that reason; `isMissing`: its folder can be, and it is not in there. */
  | { kind: 'not there'; reason: string; isMissing: boolean; fault: InputFault };

/** How the coordinator looks for itself. All of it is bounded in time, and nothing rejects. */
export interface Eyes {
  /** Reads a file as far as it takes to tell it from another, or all of it. */
  see(uri: string, isWhole: boolean): Promise<OwnView>;
  /** A name for the folder of that URI, which another one mounted there would not have; undefined where there is none. */
  identify(folderUri: string): Promise<string | undefined>;
  /** Whether results can be written below that folder, though a node could not, for that reason. */
  canWrite(folderUri: string, reason: string): Promise<boolean>;
}

/** A disk that does not answer for so long is taken for one that cannot be read. */
const patienceMs = 60_000;

/** The largest file that a node writes at once takes no more. */
const roomBytes = 2 ** 28;

export const ownEyes: Eyes = { see, identify, canWrite };

async function see(uri: string, isWhole: boolean): Promise<OwnView> {
  const signal = AbortSignal.timeout(patienceMs);
  const gaveUp = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  gaveUp.catch(() => {});
  try {
    return { kind: 'there', file: await Promise.race([showFile(uri, isWhole, signal), gaveUp]) };
  } catch (error) {
    const isOfInput = error instanceof InputError;
    return {
      kind: 'not there',
      reason: error instanceof Error ? error.message : String(error),
      isMissing: isOfInput && uri.startsWith('file:') && (await hasFolder(uri)),
      // What is not told in time is no more there than what refuses.
      fault: isOfInput ? error.fault : isRemoteUri(uri) ? 'away' : 'process',
    };
  }
}

async function identify(folderUri: string): Promise<string | undefined> {
  if (!folderUri.startsWith('file:')) return undefined;
  try {
    const { dev, ino } = await stat(fileURLToPath(folderUri));
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}

async function canWrite(folderUri: string, reason: string): Promise<boolean> {
  try {
    await tryWrite(folderUri);
    // What a node could not write may be larger than what was tried.
    return !/ENOSPC|EDQUOT|no space|quota/i.test(reason) || (await freeBytes(folderUri)) >= roomBytes;
  } catch {
    return false;
  }
}

/** Whether the folder of a file can be looked into. */
async function hasFolder(uri: string): Promise<boolean> {
  try {
    return (await stat(dirname(fileURLToPath(uri)))).isDirectory();
  } catch {
    return false;
  }
}
