import { type HuffmanTable, longLengths, lookupBits } from '../frame/huffman-table.ts';
import { zigzag } from '../frame/zigzag.ts';

/** Words of a Huffman table: lookup, ends, places, and 256 symbols, four to a word, the first in the low byte. */
export const tableWords = 2 ** lookupBits + 2 * longLengths + 64;

export function packTable({ lookup, ends, places, symbols }: HuffmanTable): Uint32Array {
  const words = new Uint32Array(tableWords);
  words.set(lookup);
  words.set(ends, lookup.length);
  words.set(places, lookup.length + longLengths);
  const first = lookup.length + 2 * longLengths;
  for (const [i, symbol] of symbols.entries()) words[first + (i >> 2)]! |= symbol << (8 * (i & 3));
  return words;
}

/** A word for each place in zig-zag order: its quantiser in bits 0 to 15, and where it is in a block above. */
export const packQuantisers = (quantisers: Uint16Array): Uint32Array =>
  Uint32Array.from(quantisers, (quantiser, place) => quantiser | (zigzag[place]! << 16));
