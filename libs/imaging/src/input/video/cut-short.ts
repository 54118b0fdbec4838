import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** Boxes of a file that are looked at: more than fragments of a day, fewer than cost a second. */
const maxBoxes = 100_000;

/** Whether an MP4, QuickTime or AVI file is shorter than it says itself. Others do not say. */
export function isCutShort(path: string): boolean {
  const { size } = statSync(path);
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(16);
    const read = (position: number) => readSync(file, head, 0, head.length, position) >= 8;
    if (!read(0)) return false;
    if (head.toString('latin1', 0, 4) === 'RIFF') return head.readUInt32LE(4) + 8 > size;
    let position = 0;
    for (let box = 0; box < maxBoxes && position < size; box++) {
      // Cut inside the head of a box.
      if (!read(position)) return true;
      const length = head.readUInt32BE(0);
      // 0: it goes to the end of the file. 1: its length follows, in 64 bits.
      if (length === 0) return false;
      position += length === 1 ? Number(head.readBigUInt64BE(8)) : length;
    }
    return position > size;
  } finally {
    closeSync(file);
  }
}
