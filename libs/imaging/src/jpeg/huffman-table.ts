/** A Huffman table of a JPEG as decoders use it: codes up to `lookupBits` by one look, longer ones by comparing. */
export interface HuffmanTable {
  /** Equal tables have equal names. */
  readonly name: string;
  /**
   * By the next `lookupBits` bits: bits of the code in bits 0 to 4, its symbol in bits 8 to 15; 0 if the code is longer
   * or there is none.
   */
  readonly lookup: Uint32Array;
  /**
   * For each length from `lookupBits` + 1 to 16, and one more: the next 16 bits, as a number, are below it if the code
   * is no longer than that. No code reaches the last one.
   */
  readonly ends: Uint32Array;
  /** For each of these lengths: what is added to the code to get the place of its symbol; modulo 2^32. */
  readonly places: Uint32Array;
  /** The symbols, in the order of their codes. */
  readonly symbols: Uint8Array;
}

/**
 * 512 words a table: four of them fit the workgroup memory that every device has, and one code of fifty is longer in
 * photographs.
 */
export const lookupBits = 9;
export const maxCodeBits = 16;
/** Tables that devices hold at once; baseline files have no more. */
export const maxTables = 4;
/** Lengths that are found by comparing. */
export const longLengths = maxCodeBits - lookupBits;

/**
 * The table of a DHT segment: how many codes there are of 1, 2 … 16 bits, and the symbols in the order of their codes.
 * Undefined if the counts ask for too many codes of a length, or for a code of ones only; libjpeg refuses both.
 */
export function buildHuffmanTable(counts: Uint8Array, symbols: Uint8Array): HuffmanTable | undefined {
  const lookup = new Uint32Array(2 ** lookupBits);
  const ends = new Uint32Array(longLengths);
  const places = new Uint32Array(longLengths);
  let code = 0;
  let place = 0;
  for (let bits = 1; bits <= maxCodeBits; bits++, code *= 2) {
    const count = counts[bits - 1]!;
    if (count > 0 && code + count >= 2 ** bits) return undefined;
    if (bits <= lookupBits) {
      const span = 2 ** (lookupBits - bits);
      for (let i = 0; i < count; i++)
        lookup.fill(bits | (symbols[place + i]! << 8), (code + i) * span, (code + i + 1) * span);
    } else places[bits - lookupBits - 1] = place - code;
    code += count;
    place += count;
    if (bits > lookupBits) ends[bits - lookupBits - 1] = code * 2 ** (maxCodeBits - bits);
  }
  const name = Buffer.concat([counts, symbols]).toString('latin1');
  return { name, lookup, ends, places, symbols: new Uint8Array(symbols) };
}

/**
 * The code with which the next 16 bits, `next`, begin: its length in bits 0 to 4 and its symbol in bits 8 to 15; 0 if
 * they begin with no code.
 */
export function lookUp({ lookup, ends, places, symbols }: HuffmanTable, next: number): number {
  const found = lookup[next >>> (maxCodeBits - lookupBits)]!;
  if (found !== 0) return found;
  let longer = 0;
  while (longer < longLengths && next >= ends[longer]!) longer++;
  if (longer === longLengths) return 0;
  const bits = lookupBits + 1 + longer;
  const place = ((next >>> (maxCodeBits - bits)) + places[longer]!) >>> 0;
  return bits | (symbols[place]! << 8);
}
