import { type MovieList, movieListsOf, padded } from './avi-lists.ts';
import { type ListedBytes, nothing } from './listing-bytes.ts';
import { bytesAt, type VideoBytes } from './video-bytes.ts';

/** What is read of a long chunk: its head, and mostly what tells of a picture of H.264. */
const chunkHeadBytes = 8 + 4096;
/** What is read where chunks are short: to read as much takes twice as long as to read little (measured). */
const blockBytes = 2 ** 16;

/** Chunks of streams have the stream's number and two letters. */
const ofStream = /^\d\d[a-z]{2}$/;
/** Others that may lie between them: a gap, and a part of an index. */
const between = /^(?:JUNK|ix\d\d)$/;

const listHeadBytes = 12;

/** Bytes of a chunk behind its head; those of frames and sound are zeros for whoever lists. */
interface Chunk {
  content: number;
  end: number;
  isSample: boolean;
}

/**
 * The bytes of an AVI for whoever lists its packets: those of frames and of sound are zeros, which nobody reads. The
 * heads of chunks are those of the file, so what FFmpeg finds is what it finds as it reads all, with the index that the
 * file has.
 */
export class AviListing implements ListedBytes {
  readonly sizeBytes: number;
  /** To look for where a slice ends takes longer than to find where it begins. */
  readonly pictureHeads = [64, 4096];
  isInDoubt: boolean;
  readonly #bytes: VideoBytes;
  readonly #lists: readonly MovieList[];
  /** The last that was begun with. */
  #chunk: Chunk | undefined;
  /** Read last, at a place. */
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

  /** As in the file; fewer than asked for at its end alone. */
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

  /** All parts were looked at to begin with, and all chunks as they came. */
  lookAtRest(): void {}

  close(): void {
    this.#bytes.close();
  }

  /** Gives what begins at a byte where FFmpeg goes on, or to which it goes. */
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
      // Whoever goes to a part of an index, to read it, begins inside of it.
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
