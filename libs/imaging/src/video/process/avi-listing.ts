import { type MovieList, movieListsOf, padded } from './avi-lists.ts';
import { type ListedBytes, nothing } from './listing-bytes.ts';
import { bytesAt, type VideoBytes } from './video-bytes.ts';

/** Bytes that are read of a long chunk: its head, and mostly enough of an H.264 picture to tell its kind. */
const chunkHeadBytes = 8 + 4096;
/** Bytes that are read if chunks are short: reading as many takes twice as long as reading few (measured). */
const blockBytes = 2 ** 16;

/** Types of chunks of streams: the stream's number and two letters. */
const ofStream = /^\d\d[a-z]{2}$/;
/** Types of other chunks that may lie between them: a gap, and a part of an index. */
const between = /^(?:JUNK|ix\d\d)$/;

const listHeadBytes = 12;

/** The bytes of a chunk behind its head. The listing gets zeros for frames and sound (`isSample`). */
interface Chunk {
  content: number;
  end: number;
  isSample: boolean;
}

/**
 * The bytes of an AVI as FFmpeg gets them to list its packets. Frames and sound are zeros and are not read. The heads
 * of chunks and the index are the file's own, so FFmpeg finds the same packets as in the whole file.
 */
export class AviListing implements ListedBytes {
  readonly sizeBytes: number;
  /** Few bytes first, because finding the end of a slice in many takes longer than finding its beginning. */
  readonly pictureHeads = [64, 4096];
  isInDoubt: boolean;
  readonly #bytes: VideoBytes;
  readonly #lists: readonly MovieList[];
  /** The chunk that was begun last. */
  #chunk: Chunk | undefined;
  /** The bytes that were read last, and their place in the file. */
  #block: { position: number; bytes: Buffer } = { position: 0, bytes: Buffer.alloc(0) };
  /** The head of a chunk, and zeros. */
  readonly #given = Buffer.alloc(2 ** 16);

  constructor(bytes: VideoBytes) {
    this.sizeBytes = bytes.sizeBytes;
    this.#bytes = bytes;
    const lists = movieListsOf(bytes);
    this.#lists = lists ?? [];
    this.isInDoubt = lists === undefined;
  }

  readonly read: VideoBytes['read'] = (position, length) => {
    const list = this.#lists.find(({ end }) => position < end);
    if (!list) return this.#bytes.read(position, length);
    if (position < list.content) return this.#bytes.read(position, Math.min(length, list.content - position));
    const chunk = this.#chunk;
    if (!chunk || position < chunk.content || position >= chunk.end) return this.#begin(position, length, list);
    const left = Math.min(length, chunk.end - position);
    return chunk.isSample ? nothing.subarray(0, left) : this.#bytes.read(position, left);
  };

  /** Bytes as in the file; fewer than asked for only at its end. */
  real(position: number, length: number): Buffer {
    return this.#known(position, length) ?? bytesAt(this.#bytes.read, position, length, true);
  }

  #known(position: number, length: number): Buffer | undefined {
    const from = position - this.#block.position;
    const isKnown = from >= 0 && from + length <= this.#block.bytes.length;
    return isKnown ? this.#block.bytes.subarray(from, from + length) : undefined;
  }

  /** The first bytes of what may be a chunk. */
  #headAt(position: number, list: MovieList): Buffer {
    const wanted = Math.min(chunkHeadBytes, list.end - position);
    const known = this.#known(position, wanted);
    if (known) return known;
    const { content, end } = this.#chunk ?? { content: 0, end: blockBytes };
    const length = end - content < blockBytes / 2 ? Math.min(blockBytes, list.end - position) : wanted;
    this.#block = { position, bytes: bytesAt(this.#bytes.read, position, length) };
    return this.#block.bytes.subarray(0, wanted);
  }

  /** There is no rest: all parts were looked at when this was made, and all chunks as they came. */
  lookAtRest(): void {}

  close(): void {
    this.#bytes.close();
  }

  /** Gives the bytes at a position where FFmpeg reads on, or to which it jumps. */
  #begin(position: number, length: number, list: MovieList): Buffer {
    const goesOn = position === list.content || position === this.#chunk?.end;
    const bytes = this.#headAt(position, list);
    const type = bytes.toString('latin1', 0, 4);
    if (type === 'LIST' && bytes.length >= listHeadBytes) {
      const content = position + listHeadBytes;
      this.#chunk = { content, end: content, isSample: false };
      return bytes.subarray(0, Math.min(length, listHeadBytes));
    }
    const end = bytes.length < 8 ? Number.POSITIVE_INFINITY : position + 8 + bytes.readUInt32LE(4);
    const isSample = ofStream.test(type);
    if (end > list.end || !(isSample || between.test(type))) {
      // If FFmpeg jumped here, nothing is wrong: it begins to read a part of an index inside of it.
      this.isInDoubt ||= goesOn;
      return bytes.subarray(0, length);
    }
    this.#chunk = { content: position + 8, end: Math.min(padded(end), list.end), isSample };
    const given = Math.min(length, this.#chunk.end - position);
    if (!isSample) return bytes.subarray(0, given);
    bytes.copy(this.#given, 0, 0, 8);
    return this.#given.subarray(0, given);
  }
}
