import { buildHuffmanTable, type HuffmanTable } from './huffman-table.ts';

/** Symbols of AC codes as ITU-T T.81 lists them in tables K.5 (luma) and K.6 (chroma), shortest codes first. */
const acSymbols = [
  `01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a4344454647
  48494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9ba
  c2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa`,
  `000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a35363738393a434445
  464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7
  b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa`,
].map((hex) => Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'));
const dcSymbols = Uint8Array.from({ length: 12 }, (_, size) => size);

/** How many codes have 1, 2 … 16 bits: tables K.3 and K.4 of DC codes, K.5 and K.6 of AC codes. */
const dcCounts = [
  [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
  [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0],
];
const acCounts = [
  [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125],
  [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119],
];

const tableOf = (counts: readonly number[], symbols: Uint8Array): HuffmanTable =>
  buildHuffmanTable(Uint8Array.from(counts), symbols)!;

/**
 * The tables for a file without tables, such as some frames of MJPEG. libjpeg-turbo has them in places 0 and 1 until
 * the file defines others.
 */
export const standardTables = {
  dc: dcCounts.map((counts) => tableOf(counts, dcSymbols)),
  ac: acCounts.map((counts, i) => tableOf(counts, acSymbols[i]!)),
};
