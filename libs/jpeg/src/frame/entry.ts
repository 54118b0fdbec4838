import { groupBlocks } from './passes.ts';

/**
 * A coefficient as a word: its place in the zig-zag order in bits 0 to 5, from bit 6 on its block among those that a
 * workgroup transforms, and its value in bits 16 to 31.
 */
export const packEntry = (block: number, place: number, value: number): number =>
  (place | ((block % groupBlocks) << 6) | (value << 16)) >>> 0;

export const unpackEntry = (entry: number): { block: number; place: number; value: number } => ({
  block: (entry >> 6) & (groupBlocks - 1),
  place: entry & 63,
  value: entry >> 16,
});

/**
 * Entries that so many bytes of data hold at most. A block of 64 takes 127 bits or more: its DC one, each other
 * coefficient two. A block of a DC alone takes two.
 */
export const mostEntries = (dataBytes: number, lumaBlocks: number): number =>
  Math.min(64 * lumaBlocks, Math.ceil((8 * dataBytes * 64) / 127) + 64);
