import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lackOf, type OutputLack } from '@halogrid/jobs/output-lack';
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
  /**
   * A name for the folder of that URI, which another one mounted there would not have; undefined where there is none.
   */
  identify(folderUri: string): Promise<string | undefined>;
  /** Free bytes below that folder; undefined if unknown. */
  free(folderUri: string): Promise<number | undefined>;
  /**
   * Why results cannot be written below that folder, after a node failed to for `reason`; undefined if they can.
   */
  whyNotWritten(folderUri: string, reason: string): Promise<OutputLack | undefined>;
}

/** A disk that does not answer for so long is taken for one that cannot be read. */
const patienceMs = 60_000;

/** The largest file that a node writes at once takes no more. */
const roomBytes = 2 ** 28;

export const ownEyes: Eyes = { see, identify, free, whyNotWritten };

async function see(uri: string, isWhole: boolean): Promise<OwnView> {
  try {
    return { kind: 'there', file: await patiently((signal) => showFile(uri, isWhole, signal)) };
  } catch (error) {
    const isOfInput = error instanceof InputError;
    return {
      kind: 'not there',
      reason: messageOf(error),
      isMissing: isOfInput && uri.startsWith('file:') && (await hasFolder(uri)),
      // A file that is not read in time counts as not there, like one that is refused.
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

function free(folderUri: string): Promise<number | undefined> {
  return patiently(() => freeBytes(folderUri)).catch(() => undefined);
}

async function whyNotWritten(folderUri: string, reason: string): Promise<OutputLack | undefined> {
  try {
    await patiently(() => tryWrite(folderUri));
  } catch (error) {
    const lack = lackOf(error) ?? { kind: 'folder', error: messageOf(error) };
    return lack.kind === 'room' ? { ...lack, freeBytes: await free(folderUri) } : lack;
  }
  if (lackOf(reason)?.kind !== 'room') return undefined;
  // The node's file may have been larger than the one tried here.
  const left = await free(folderUri);
  return left !== undefined && left < roomBytes ? { kind: 'room', error: reason, freeBytes: left } : undefined;
}

/** Rejects if there is no answer for a long time. */
async function patiently<T>(look: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(patienceMs);
  const gaveUp = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  gaveUp.catch(() => {});
  return Promise.race([look(signal), gaveUp]);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether the folder of a file can be looked into. */
async function hasFolder(uri: string): Promise<boolean> {
  try {
    return (await stat(dirname(fileURLToPath(uri)))).isDirectory();
  } catch {
    return false;
  }
}
