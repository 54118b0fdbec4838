import { closeSync, openSync, readSync } from 'node:fs';

/** Bytes of a file of histograms. Throws one sentence where it ends before. */
export function readAt(path: string, offset: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const file = openSync(path, 'r');
  try {
    for (let done = 0; done < length; ) {
      const read = readSync(file, bytes, done, length - done, offset + done);
      if (read === 0) throw new Error(`The file of histograms '${path}' ends early`);
      done += read;
    }
  } finally {
    closeSync(file);
  }
  return bytes;
}
