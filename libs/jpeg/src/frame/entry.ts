import { groupBlocks } from './passes.ts';

/**
 * A coefficient as a word. Bits 0 to 5: its place in zig-zag order. From bit 6 on: its block among the blocks that a
 * workgroup transforms. Bits 16 to 31: its value.
 */
export const packEntry = (block: number, place: number, value: number): number =>
  (place | ((block % groupBlocks) << 6) | (value << 16)) >>> 0;

export const unpackEntry = (entry: number): { block: number; place: number; value: number } => ({
  block: (entry >> 6) & (groupBlocks - 1),
  place: entry & 63,
  value: entry >> 16,
});

/**
 * The most entries that `dataBytes` bytes of data can hold. A full block of 64 takes at least 127 bits: one for its DC,
 * two for each other coefficient. A block with only a DC takes two.
 */
export const mostEntries = (dataBytes: number, lumaBlocks: number): number =>
  Math.min(64 * lumaBlocks, Math.ceil((8 * dataBytes * 64) / 127) + 64);
