import { type HuffmanTable, longLengths, lookupBits } from '../frame/huffman-table.ts';
import { zigzag } from '../frame/zigzag.ts';

/** Words of a Huffman table: lookup, ends, places, and 256 symbols, as decode.wgsl has them. */
export const tableWords = 2 ** lookupBits + 2 * longLengths + 256;

/** A table of DC or of AC coefficients. What is known of a code is decided here once, and not for each code of a file. */
export function packTable({ lookup, ends, places, symbols }: HuffmanTable, isDc: boolean): Uint32Array {
  const words = new Uint32Array(tableWords);
  const tell = (symbol: number, codeBits: number): number => tellOf(symbol, isDc) + codeBits * 33;
  for (const [i, code] of lookup.entries()) if (code !== 0) words[i] = tell(code >> 8, code & 31);
  words.set(ends, lookup.length);
  words.set(places, lookup.length + longLengths);
  const first = lookup.length + 2 * longLengths;
  for (const [i, symbol] of symbols.entries()) words[first + i] = tell(symbol, 0);
  return words;
}

/** What a symbol tells but for the length of its code, which is added to the lower two of the numbers. */
function tellOf(symbol: number, isDc: boolean): number {
  const size = symbol & 15;
  const run = symbol >> 4;
  const isEnd = size === 0 && run !== 15;
  const advance = isDc ? 1 : isEnd ? 64 : run + 1;
  return (size << 5) | (size << 10) | (advance << 14);
}

/** A word for each place in zig-zag order: its quantiser in bits 0 to 15, and where it is in a block above. */
export const packQuantisers = (quantisers: Uint16Array): Uint32Array =>
  Uint32Array.from(quantisers, (quantiser, place) => quantiser | (zigzag[place]! << 16));
