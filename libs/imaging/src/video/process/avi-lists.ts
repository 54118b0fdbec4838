import { bytesAt, type VideoBytes } from './video-bytes.ts';

/**
 * A part of an AVI that holds chunks of streams (a list of the type "movi"): the position of its first byte, and of the
 * first byte behind it.
 */
export interface MovieList {
  content: number;
  end: number;
}

/** The most parts that are looked at: an AVI of a terabyte has a thousand of a gigabyte each. */
const maxParts = 100_000;

const usualParts = new Set(['LIST', 'JUNK', 'idx1']);

/**
 * The parts of an AVI (RIFF, and AVIX of OpenDML behind it) that hold chunks, in their order. Undefined if the file is
 * not an AVI or may be damaged: its length differs from what its parts state, or it has a part that is not usual.
 */
export function movieListsOf({ sizeBytes, read }: Pick<VideoBytes, 'sizeBytes' | 'read'>): MovieList[] | undefined {
  const lists: MovieList[] = [];
  let riffEnd = 0;
  let parts = 0;
  for (let at = 0; at < sizeBytes; at = padded(riffEnd)) {
    const riff = headAt(read, at);
    riffEnd = riff.end;
    if (riff.type !== 'RIFF' || riff.form !== (at === 0 ? 'AVI ' : 'AVIX') || riffEnd > sizeBytes) return undefined;
    for (let part = at + headBytes; part < riffEnd; ) {
      const { type, form, end } = headAt(read, part);
      if (!usualParts.has(type) || end > riffEnd || ++parts > maxParts) return undefined;
      if (type === 'LIST' && form === 'movi') lists.push({ content: part + headBytes, end });
      part = padded(end);
    }
  }
  return lists.length > 0 && padded(riffEnd) >= sizeBytes ? lists : undefined;
}

/** The head of a part: letters, a length, and the type of a list. */
const headBytes = 12;

/** Parts begin at even places. */
export const padded = (end: number): number => end + (end & 1);

/** The end is infinite if the file ends inside the head. */
function headAt(read: VideoBytes['read'], at: number): { type: string; form: string; end: number } {
  const head = bytesAt(read, at, headBytes);
  if (head.length < 8) return { type: '', form: '', end: Number.POSITIVE_INFINITY };
  const text = head.toString('latin1');
  return { type: text.slice(0, 4), form: text.slice(8), end: at + 8 + head.readUInt32LE(4) };
}
