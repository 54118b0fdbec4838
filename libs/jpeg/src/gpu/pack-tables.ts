import { type HuffmanTable, longLengths, lookupBits } from '@halogrid/imaging/jpeg-segments';
import { zigzag } from '../frame/zigzag.ts';

/**
 * Words of a Huffman table: lookup, ends, places, and 256 symbols. A word has four symbols, the first in the low byte.
 */
export const tableWords = 2 ** lookupBits + 2 * longLengths + 64;

/** By table: all frames of a camera have the same tables. */
const packed = new WeakMap<HuffmanTable, Uint32Array>();

export function packTable(table: HuffmanTable): Uint32Array {
  const present = packed.get(table);
  if (present) return present;
  const words = pack(table);
  packed.set(table, words);
  return words;
}

function pack({ lookup, ends, places, symbols }: HuffmanTable): Uint32Array {
  const words = new Uint32Array(tableWords);
  words.set(lookup);
  words.set(ends, lookup.length);
  words.set(places, lookup.length + longLengths);
  const first = lookup.length + 2 * longLengths;
  for (let i = 0; i < symbols.length; i++) words[first + (i >> 2)]! |= symbols[i]! << (8 * (i & 3));
  return words;
}

/** A word for each place in zig-zag order: the quantiser in bits 0 to 15, and above it the index in a block. */
export function packQuantisers(quantisers: Uint16Array): Uint32Array {
  const words = new Uint32Array(quantisers.length);
  for (let place = 0; place < words.length; place++) words[place] = quantisers[place]! | (zigzag[place]! << 16);
  return words;
}
