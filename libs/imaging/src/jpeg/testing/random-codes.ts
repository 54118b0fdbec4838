import type { randomSource } from './random-source.ts';

/** A Huffman table as a DHT segment has it, and the code of each symbol. */
export interface TestCodes {
  /** Codes of 1, 2 … 16 bits. */
  counts: Uint8Array;
  symbols: Uint8Array;
  codes: ReadonlyMap<number, { code: number; bits: number }>;
}

/**
 * A code for each symbol, of random lengths to 16 bits: leaves of a tree that is split at random, except the leaf that
 * is all ones.
 */
export function randomCodes(symbols: readonly number[], random: ReturnType<typeof randomSource>): TestCodes {
  const leaves = [0];
  while (leaves.length < symbols.length + 1) {
    // Now and then the deepest leaf is split, so that some codes are long.
    const open = leaves.map((depth, i) => ({ depth, i })).filter(({ depth }) => depth < 16);
    const chosen = random(3) === 0 ? open.reduce((a, b) => (b.depth > a.depth ? b : a)) : open[random(open.length)]!;
    // The symbols that are left must fit below leaves that are not at full depth.
    const room = open.reduce((sum, { depth }) => sum + 2 ** (16 - depth), 0);
    const least = symbols.length + 1 - leaves.length;
    const { i, depth } = room > 2 * least ? chosen : open.reduce((a, b) => (b.depth < a.depth ? b : a));
    leaves.splice(i, 1, depth + 1, depth + 1);
  }
  const lengths = leaves.sort((a, b) => a - b).slice(0, -1);
  const counts = new Uint8Array(16);
  const codes = new Map<number, { code: number; bits: number }>();
  let code = 0;
  for (const [i, bits] of lengths.entries()) {
    if (i > 0) code = (code + 1) * 2 ** (bits - lengths[i - 1]!);
    codes.set(symbols[i]!, { code, bits });
    counts[bits - 1]!++;
  }
  return { counts, symbols: Uint8Array.from(symbols), codes };
}
