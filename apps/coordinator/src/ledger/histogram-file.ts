import { closeSync, openSync, readSync } from 'node:fs';

/** What is said of a file of histograms that has fewer bytes than were written. */
export const describeEarlyEnd = (path: string): string => `The file of histograms '${path}' ends early`;

/** What is said of one whose bytes from `at` on have another checksum than when they were written. */
export const describeChange = (path: string, at: number): string =>
  `The file of histograms '${path}' has changed at byte ${at} since it was written`;

/** Fills `target` with the bytes of an open file from `at` on, and waits for the disk. Returns false where the file has fewer. */
export function fillFrom(file: number, target: Uint8Array, at: number): boolean {
  for (let done = 0; done < target.length; ) {
    const read = readSync(file, target, done, target.length - done, at + done);
    if (read === 0) return false;
    done += read;
  }
  return true;
}

/** Bytes of a file of histograms. Throws one sentence where it ends before. */
export function readAt(path: string, offset: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const file = openSync(path, 'r');
  try {
    if (!fillFrom(file, bytes, offset)) throw new Error(describeEarlyEnd(path));
  } finally {
    closeSync(file);
  }
  return bytes;
}
