import type { VideoBytes } from './video-bytes.ts';

/** Boxes of a file that are looked at: more than fragments of a day, fewer than cost a second. */
const maxBoxes = 100_000;

/** Whether an MP4, QuickTime or AVI file is shorter than it says itself. Others do not say. */
export function isCutShort({ sizeBytes, read }: Pick<VideoBytes, 'sizeBytes' | 'read'>): boolean {
  const start = read(0, 16);
  if (start.length < 8) return false;
  if (start.toString('latin1', 0, 4) === 'RIFF') return start.readUInt32LE(4) + 8 > sizeBytes;
  let position = 0;
  for (let box = 0; box < maxBoxes && position < sizeBytes; box++) {
    const head = headAt(read, position);
    // Cut inside the head of a box.
    if (head.length < 8) return true;
    const length = head.readUInt32BE(0);
    // 0: it goes to the end of the file. 1: its length follows, in 64 bits.
    if (length === 0) return false;
    if (length === 1 && head.length < 16) return true;
    position += length === 1 ? Number(head.readBigUInt64BE(8)) : length;
  }
  return position > sizeBytes;
}

/** 16 bytes, or as many as there are. */
function headAt(read: VideoBytes['read'], position: number): Buffer {
  const first = read(position, 16);
  return first.length < 16 && first.length > 0
    ? Buffer.concat([first, read(position + first.length, 16 - first.length)])
    : first;
}
