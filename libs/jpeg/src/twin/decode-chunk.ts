import { lookUp } from '@halogrid/imaging/jpeg-segments';
import { type JpegChunk, noEnd, packState, unpackState } from '../frame/chunk.ts';
import type { JpegFrame } from '../frame/jpeg-frame.ts';

/** Counts of a chunk, since its last restart marker, or since its beginning if it has none. */
export interface ChunkCounts {
  /** Restart markers. */
  restarts: number;
  /** Blocks that begin, since the last restart marker. */
  blocks: number;
  /** Sum of the differences of luma's DC since the last restart marker, modulo 2^32. */
  dc: number;
  /** Luma coefficients that are written: each DC, and every other that is not 0. */
  entries: number;
}

/** Receives the content of a chunk, in order. */
export interface ChunkSink {
  /**
   * The block before has ended at bit `at`, and the next mark is at `limit`. Returns false if no other block is wanted.
   * At the border of two chunks, it may be called for both.
   */
  wantsBlock(at: number, limit: number): boolean;
  /** A restart marker. */
  restart(): void;
  /** A block begins; for luma, `difference` is that of its DC to the one before. */
  block(isLuma: boolean, difference: number): void;
  /** A luma coefficient that is not 0, by its place in zig-zag order: 1 to 63. */
  ac(place: number, value: number): void;
  /** The data is not that of a JPEG. */
  bad(): void;
}

/**
 * Decodes the codes that begin in a chunk, from the state `entry` on, and returns the state at its end. It ends for
 * every state and all bits: a guessed state is mostly wrong, and leads to bits that are not codes.
 */
export function decodeChunk(
  frame: JpegFrame,
  chunk: JpegChunk,
  entry: number,
  sink?: ChunkSink,
): { exit: number; counts: ChunkCounts } {
  const bits = 8 * chunk.length;
  const counts: ChunkCounts = { restarts: 0, blocks: 0, dc: 0, entries: 0 };
  const lumaEnd = frame.lumaFirst + frame.lumaAcross * frame.lumaDown;
  const isLuma = (of: number): boolean => of >= frame.lumaFirst && of < lumaEnd;
  let { over: at, coefficient, block } = unpackState(entry);
  let limit = nextMark(chunk, Math.ceil(at / 8));
  while (at < bits) {
    if (at === limit) {
      // The marker cuts a block.
      if (coefficient !== 0) sink?.bad();
      counts.restarts++;
      counts.blocks = counts.dc = coefficient = block = 0;
      limit = nextMark(chunk, at / 8 + 1);
      sink?.restart();
      continue;
    }
    const next = bitsAt(chunk, at);
    if (coefficient === 0) {
      if (sink && !sink.wantsBlock(at, limit)) break;
      // Encoders fill the last byte before a marker with ones. No code consists of ones alone.
      if (limit - at < 8 && next >>> (32 - (limit - at)) === 2 ** (limit - at) - 1) {
        at = limit;
        continue;
      }
    }
    const table = coefficient === 0 ? frame.dcTables[block]! : frame.acTables[block]!;
    const code = lookUp(frame.tables[table]!, next >>> 16);
    if (code === 0) {
      at++;
      sink?.bad();
      continue;
    }
    const length = code & 31;
    const symbol = code >> 8;
    const size = symbol & 15;
    const value = extend(next, length, size);
    at += length + size;
    if (coefficient === 0) {
      counts.blocks++;
      if (isLuma(block)) {
        counts.entries++;
        counts.dc = (counts.dc + value) | 0;
      }
      sink?.block(isLuma(block), value);
      coefficient = 1;
    } else if (size === 0) coefficient = symbol === 0xf0 ? coefficient + 16 : 64;
    else {
      const place = coefficient + (symbol >> 4);
      if (place > 63) sink?.bad();
      else if (isLuma(block)) sink?.ac(place, value);
      if (isLuma(block)) counts.entries++;
      coefficient = place + 1;
    }
    if (coefficient > 63) {
      coefficient = 0;
      block = block + 1 === frame.mcuBlocks ? 0 : block + 1;
    }
    if (at > limit) {
      sink?.bad();
      at = limit;
    }
  }
  if (coefficient === 0 && at >= bits) sink?.wantsBlock(at, limit);
  return { exit: packState(at - bits, coefficient, block), counts };
}

/** The bit at which the first mark from a byte on is; beyond all bits if there is no mark. */
function nextMark({ marks }: JpegChunk, byte: number): number {
  for (let at = byte; at < 32 * marks.length; at++) if (((marks[at >> 5]! >>> (at & 31)) & 1) === 1) return 8 * at;
  return 8 * noEnd;
}

/** 32 bits from bit `at` on. */
function bitsAt({ words }: JpegChunk, at: number): number {
  const word = at >> 5;
  const low = at & 31;
  return ((words[word]! << low) | ((words[word + 1]! >>> 1) >>> (31 - low))) >>> 0;
}

/** The value of the `size` bits after a code of `length` bits: unchanged from 2^(size - 1) on, negative below. */
function extend(next: number, length: number, size: number): number {
  if (size === 0) return 0;
  const bits = (next << length) >>> (32 - size);
  return bits < 2 ** (size - 1) ? bits - 2 ** size + 1 : bits;
}
