import { bytesAt, type VideoBytes } from './video-bytes.ts';

/**
 * A part of an AVI that chunks of streams lie in (a list of the type "movi"): its first byte, and the first behind it.
 */
export interface MovieList {
  content: number;
  end: number;
}

/** Parts that are looked at: an AVI of a terabyte has a thousand of a gigabyte each. */
const maxParts = 100_000;

const usualParts = new Set(['LIST', 'JUNK', 'idx1']);

/**
 * The parts of an AVI (RIFF, and AVIX of OpenDML behind it) that hold chunks, in their order. Undefined where the file
 * is no AVI, or is one that is longer or shorter than its parts are by the lengths that they state, or has a part that
 * is not usual: then it may be damaged.
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

/** Letters, a length, and of a list its type. */
const headBytes = 12;

/** Parts begin at even places. */
export const padded = (end: number): number => end + (end & 1);

/** The end is beyond all where the file ends before it. */
function headAt(read: VideoBytes['read'], at: number): { type: string; form: string; end: number } {
  const head = bytesAt(read, at, headBytes);
  if (head.length < 8) return { type: '', form: '', end: Number.POSITIVE_INFINITY };
  const text = head.toString('latin1');
  return { type: text.slice(0, 4), form: text.slice(8), end: at + 8 + head.readUInt32LE(4) };
}
