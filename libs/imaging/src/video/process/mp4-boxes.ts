import type { VideoBytes } from './video-bytes.ts';

/** A part of an MP4 or QuickTime file, as its head states it. */
export interface Mp4Box {
  /** Four letters, or whatever a damaged file has there. */
  type: string;
  /** First byte behind its head. */
  content: number;
  /** First byte behind the box, which may be behind the end of the file. */
  end: number;
}

/** Boxes that recordings are made of. Any other box is a sign that the file is damaged, or of another kind. */
export const usualBoxes: ReadonlySet<string> = new Set(
  'ftyp styp moov moof mdat free skip wide sidx ssix mfra uuid pdin emsg prft meta udta pnot PICT'.split(' '),
);

/**
 * The most boxes of a file that are looked at: more than the fragments of a day have, and few enough to take less than
 * a second.
 */
const maxBoxes = 100_000;

/**
 * The outermost boxes of a file in order; each is read when it is asked for. Returns whether the file ends inside the
 * head of a box.
 */
export function* boxesOf({ sizeBytes, read }: Pick<VideoBytes, 'sizeBytes' | 'read'>): Generator<Mp4Box, boolean> {
  let position = 0;
  for (let box = 0; box < maxBoxes && position < sizeBytes; box++) {
    const head = headAt(read, position);
    if (head.length < 8) return true;
    const stated = head.readUInt32BE(0);
    // 0: the box goes to the end of the file. 1: a length of 64 bits follows.
    if (stated === 1 && head.length < 16) return true;
    const length = stated === 0 ? sizeBytes - position : stated === 1 ? Number(head.readBigUInt64BE(8)) : stated;
    yield { type: head.toString('latin1', 4, 8), content: position + (stated === 1 ? 16 : 8), end: position + length };
    position += length;
  }
  return false;
}

/** Whether an MP4, QuickTime or AVI file is shorter than it says itself. Other files do not say. */
export function isCutShort(bytes: Pick<VideoBytes, 'sizeBytes' | 'read'>): boolean {
  const { sizeBytes, read } = bytes;
  const start = read(0, 16);
  if (start.length < 8) return false;
  if (start.toString('latin1', 0, 4) === 'RIFF') return start.readUInt32LE(4) + 8 > sizeBytes;
  const boxes = boxesOf(bytes);
  for (let box = boxes.next(); ; box = boxes.next()) {
    if (box.done) return box.value;
    if (box.value.end > sizeBytes) return true;
  }
}

/**
 * Whether a file is an MP4 or QuickTime that has pictures but lacks the tables that tell where they are. Recorders
 * write these last.
 */
export function lacksTables(bytes: Pick<VideoBytes, 'sizeBytes' | 'read'>): boolean {
  let hasSamples = false;
  for (const { type } of boxesOf(bytes)) {
    if (!usualBoxes.has(type) || type === 'moov') return false;
    hasSamples ||= type === 'mdat';
  }
  return hasSamples;
}

/** 16 bytes, or as many as there are. */
function headAt(read: VideoBytes['read'], position: number): Buffer {
  const first = read(position, 16);
  return first.length < 16 && first.length > 0
    ? Buffer.concat([first, read(position + first.length, 16 - first.length)])
    : first;
}
