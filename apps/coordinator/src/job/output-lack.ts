import { describeBytes } from '@halogrid/service/describe-bytes';

/**
 * Why the output of a job cannot be written for now: its disk has no room, or its folder is away for a moment, as that of a network's
 * disk may be.
 */
export interface OutputLack {
  kind: 'room' | 'folder';
  error: string;
  /** Bytes that are free there, where that is known. */
  freeBytes?: number | undefined;
}

/** A file that is larger than its file system takes (EFBIG) is none of these: no room helps. */
const noRoom = new Set(['ENOSPC', 'EDQUOT']);

/** What a disk of a network answers while its server is away, or has just been. */
const folderAway = new Set(
  'ESTALE EIO ENOENT EACCES ENOTCONN ETIMEDOUT EHOSTDOWN EHOSTUNREACH ENODEV ENXIO'.split(' '),
);

/** Libraries and other processes tell of a full disk by a sentence alone. */
const saysNoRoom = (sentence: string): boolean => /ENOSPC|EDQUOT|no space left|quota|disk is full/i.test(sentence);

/** What an error, or what caused it, says of the disk of the output; undefined where it says that nothing will come back by itself. */
export function lackOf(error: unknown): OutputLack | undefined {
  const sentence = error instanceof Error ? error.message : String(error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (noRoom.has(code) || saysNoRoom(cause.message)) return { kind: 'room', error: sentence };
    if (folderAway.has(code)) return { kind: 'folder', error: sentence };
  }
  return saysNoRoom(sentence) ? { kind: 'room', error: sentence } : undefined;
}

/** What a job says while it waits. `folder` is that of its output. */
export function waitsFor(folder: string, lack: OutputLack): string {
  return lack.kind === 'room'
    ? `It waits for room in '${folder}'${sayFree(lack)}: ${lack.error}`
    : `It waits for '${folder}', which cannot be written: ${lack.error}`;
}

/** Why a job that has waited for so long does so no longer, and what to do. */
export function waitedInVain(folder: string, lack: OutputLack, waitedMs: number): string {
  const seconds = waitedMs >= 1000 ? `${Math.round(waitedMs / 1000)} s` : '';
  return lack.kind === 'room'
    ? `There is no room in '${folder}'${seconds && ` for ${seconds}`}${sayFree(lack)}: ${lack.error}; make room there and run ` +
        'the same command again, which goes on from here'
    : `The output in '${folder}' cannot be written: ${lack.error}${seconds && ` (waited for ${seconds})`}; see to the folder and ` +
        'run the same command again, which goes on with what is there';
}

/** What is free of a disk says nothing of what is left of a quota. */
const sayFree = ({ error, freeBytes }: OutputLack): string =>
  freeBytes === undefined || /EDQUOT|quota/i.test(error) ? '' : ` (${describeBytes(freeBytes)} free)`;
