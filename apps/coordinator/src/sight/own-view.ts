import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lackOf, type OutputLack } from '@halogrid/jobs/output-lack';
import { freeBytes, tryWrite } from '@halogrid/results';
import {
  BucketPrefix,
  InputError,
  type InputFault,
  isBucketUri,
  isRemoteUri,
  type ShownFile,
  showFile,
} from '@halogrid/sources';

/** What the coordinator itself finds at the URI of a file. */
export type OwnView =
  /** The file, as it is there now. */
  | { kind: 'there'; file: ShownFile }
  /**
   * The coordinator cannot read it, for that reason. `isMissing`: it can read the folder, and the file is not in it.
   */
  | { kind: 'not there'; reason: string; isMissing: boolean; fault: InputFault };

/** How the coordinator examines files and folders itself. Every method is bounded in time, and never rejects. */
export interface Eyes {
  /** Reads enough of a file to tell it from another or, with `isWhole`, all of it. */
  see(uri: string, isWhole: boolean): Promise<OwnView>;
  /** A name for the folder at that URI that another folder mounted there would not have; undefined if it is missing. */
  identify(folderUri: string): Promise<string | undefined>;
  /** Free bytes below that folder; undefined if unknown. */
  free(folderUri: string): Promise<number | undefined>;
  /**
   * Why results cannot be written below that folder, after a node failed to for `reason`; undefined if they can.
   */
  whyNotWritten(folderUri: string, reason: string): Promise<OutputLack | undefined>;
}

/** A disk that does not answer for this long counts as unreadable. */
const patienceMs = 60_000;

/** The most bytes that a node writes at once, in one file. */
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
    await patiently(() => (isBucketUri(folderUri) ? tryBucket(folderUri) : tryWrite(folderUri)));
  } catch (error) {
    const lack = lackOf(error) ?? { kind: 'folder', error: messageOf(error) };
    return lack.kind === 'room' ? { ...lack, freeBytes: await free(folderUri) } : lack;
  }
  if (lackOf(reason)?.kind !== 'room' || isBucketUri(folderUri)) return undefined;
  // The node's file may have been larger than the one tried here.
  const left = await free(folderUri);
  return left !== undefined && left < roomBytes ? { kind: 'room', error: reason, freeBytes: left } : undefined;
}

/** Tries whether objects can be written below a URI. Rejects with the error. */
async function tryBucket(uri: string): Promise<void> {
  const prefix = new BucketPrefix(uri);
  const name = `try-${randomUUID()}`;
  await prefix.put(name, new Uint8Array());
  await prefix.remove(name);
}

/** Rejects if there is no answer for `patienceMs`. */
async function patiently<T>(look: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(patienceMs);
  const gaveUp = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  gaveUp.catch(() => {});
  return Promise.race([look(signal), gaveUp]);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether the folder of a file is there. */
async function hasFolder(uri: string): Promise<boolean> {
  try {
    return (await stat(dirname(fileURLToPath(uri)))).isDirectory();
  } catch {
    return false;
  }
}
