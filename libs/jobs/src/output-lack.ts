import { describeBytes } from '@halogrid/service/describe-bytes';
import { InputError, TransferError } from '@halogrid/sources';

/**
 * Why the output of a job cannot be written for now: its disk is full, or its folder is away, as a folder on a network
 * disk may be for a while.
 */
export interface OutputLack {
  kind: 'room' | 'folder';
  error: string;
  /** Free bytes of the disk, if known. */
  freeBytes?: number | undefined;
}

/** EFBIG, a file too large for its file system, is not listed: more room would not help. */
const noRoom = new Set(['ENOSPC', 'EDQUOT']);

/**
 * The errors of a network disk while its server is away, or just after that, and of a process with too many open files.
 */
const folderAway = new Set(
  'ESTALE EIO ENOENT EACCES ENOTCONN ETIMEDOUT EHOSTDOWN EHOSTUNREACH ENODEV ENXIO EMFILE ENFILE'.split(' '),
);

/** Libraries and other processes report a full disk only in the text of their message. */
const saysNoRoom = (sentence: string): boolean => /ENOSPC|EDQUOT|no space left|quota|disk is full/i.test(sentence);

/**
 * What an error or its causes say about the output's disk or folder; undefined for an error that waiting cannot mend.
 */
export function lackOf(error: unknown): OutputLack | undefined {
  const sentence = error instanceof Error ? error.message : String(error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (noRoom.has(code) || saysNoRoom(cause.message)) return { kind: 'room', error: sentence };
    if (folderAway.has(code) || isStoreAway(cause)) return { kind: 'folder', error: sentence };
  }
  return saysNoRoom(sentence) ? { kind: 'room', error: sentence } : undefined;
}

/** Whether the object store of the output does not answer, or refuses access. */
const isStoreAway = (error: Error): boolean =>
  (error instanceof TransferError || error instanceof InputError) &&
  (error.fault === 'away' || error.fault === 'closed');

/** What a job says while it waits. `folder` is its output folder. */
export function waitsFor(folder: string, lack: OutputLack): string {
  return lack.kind === 'room'
    ? `It waits for room in '${folder}'${sayFree(lack)}: ${lack.error}`
    : `It waits for '${folder}', which cannot be written: ${lack.error}`;
}

/** Why a job gives up after it has waited for `waitedMs`, and what to do. */
export function waitedInVain(folder: string, lack: OutputLack, waitedMs: number): string {
  const seconds = waitedMs >= 1000 ? `${Math.round(waitedMs / 1000)} s` : '';
  return lack.kind === 'room'
    ? `There is no room in '${folder}'${seconds && ` for ${seconds}`}${sayFree(lack)}: ${lack.error}; make room there and run ` +
        'the same command again: it continues from here'
    : `The output in '${folder}' cannot be written: ${lack.error}${seconds && ` (waited for ${seconds})`}; mend the folder, then ` +
        'run the same command again: it continues with what is there';
}

/** Empty for a quota, because the free bytes of the disk do not show how much of the quota is left. */
const sayFree = ({ error, freeBytes }: OutputLack): string =>
  freeBytes === undefined || /EDQUOT|quota/i.test(error) ? '' : ` (${describeBytes(freeBytes)} free)`;
