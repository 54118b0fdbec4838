import { isRestart, marker } from '@halogrid/imaging/jpeg-segments';
import { bytesAhead, type JpegChunk, markWords, noEnd } from '../frame/chunk.ts';
import { aheadBytes, chunkBytes, chunkWords } from '../frame/passes.ts';

/** All chunks of a file's entropy-coded data. `last`: the index of the chunk in which the data ends; -1: in none. */
export function destuff(data: Uint8Array): { chunks: JpegChunk[]; last: number } {
  const chunks: JpegChunk[] = [];
  let last = -1;
  for (let start = 0; start < data.length; start += chunkBytes) {
    const chunk = destuffChunk(data, start);
    if (last < 0 && chunk.end <= chunk.length) last = chunks.length;
    chunks.push(chunk);
  }
  return { chunks, last };
}

/** A chunk while it is written. */
interface Writer extends JpegChunk {
  written: number;
  restarts: number;
}

/**
 * The chunk with the bytes from `start` on. It also looks at the two bytes before: a marker belongs to the chunk of the
 * byte after it.
 */
export function destuffChunk(data: Uint8Array, start: number): JpegChunk {
  const words = new Uint32Array(chunkWords);
  const marks = new Uint32Array(markWords);
  const to = { words, marks, length: 0, end: noEnd, firstRestart: 0, isOdd: false, written: 0, restarts: 0 };
  const end = Math.min(start + chunkBytes, data.length);
  let at = begin(data, start, to);
  while (at < end && to.end === noEnd) at = step(data, at, to);
  to.length = to.written;
  const far = Math.min(end + bytesAhead, data.length);
  while (at < far && to.end === noEnd && to.written < to.length + aheadBytes) at = step(data, at, to);
  if (to.end === noEnd && to.written < to.length + aheadBytes) to.isOdd = true;
  const { written: _, restarts: __, ...chunk } = to;
  return chunk;
}

/** The offset of the first byte that belongs to the chunk at `start`. */
function begin(data: Uint8Array, start: number, to: Writer): number {
  if (start === 0) return 0;
  if (data[start - 2] === 0xff && isRestart(data[start - 1]!)) addRestart(data[start - 1]!, to);
  const code = data[start]!;
  if (data[start - 1] !== 0xff || code === 0xff) return start;
  if (isRestart(code)) addRestart(code, to);
  return start + 1;
}

/**
 * Takes one item at `at`: a byte, an FF with its stuffed 00, a fill byte FF, or a marker. Returns the offset of the
 * next item.
 */
function step(data: Uint8Array, at: number, to: Writer): number {
  const byte = data[at]!;
  const code = data[at + 1] ?? 0;
  if (byte !== 0xff || code === 0) {
    to.words[to.written >> 2]! |= byte << (24 - 8 * (to.written & 3));
    to.written++;
    return at + (byte === 0xff ? 2 : 1);
  }
  if (code === 0xff) return at + 1;
  if (isRestart(code)) addRestart(code, to);
  else {
    if (code !== marker.endOfImage) to.isOdd = true;
    addMark(to);
    to.end = to.written;
  }
  return at + 2;
}

function addRestart(code: number, to: Writer): void {
  if (to.restarts === 0) to.firstRestart = code & 7;
  if (((to.firstRestart + to.restarts) & 7) !== (code & 7)) to.isOdd = true;
  to.restarts++;
  addMark(to);
}

/** Two markers with nothing between them are out of order. */
function addMark(to: Writer): void {
  const [word, bit] = [to.written >> 5, 1 << (to.written & 31)];
  if ((to.marks[word]! & bit) !== 0) to.isOdd = true;
  to.marks[word]! |= bit;
}
