import { readFileSync } from 'node:fs';
import { longLengths, lookupBits, marker, maxTables } from '@halogrid/imaging/jpeg-segments';
import { greatestDc, greatestInput, greatestPixel } from '../frame/bounds.ts';
import { bytesAhead, noEnd } from '../frame/chunk.ts';
import { dctConstants } from '../frame/dct-constants.ts';
import { aheadBytes, chunkBytes, chunkWords, groupBlocks, groupChunks, guess, settlePasses } from '../frame/passes.ts';
import { status } from '../frame/status.ts';
import { tableWords } from './pack-tables.ts';

const unsigned = {
  CHUNK_BYTES: chunkBytes,
  AHEAD_BYTES: aheadBytes,
  MOST_AHEAD: bytesAhead,
  CHUNK_WORDS: chunkWords,
  GROUP_CHUNKS: groupChunks,
  GROUP_BLOCKS: groupBlocks,
  SETTLE_PASSES: settlePasses,
  GUESS: guess,
  NO_END: noEnd,
  END_OF_IMAGE: marker.endOfImage,
  LOOKUP_BITS: lookupBits,
  LOOKUP_WORDS: 2 ** lookupBits,
  LONG_LENGTHS: longLengths,
  TABLE_WORDS: tableWords,
  MOST_TABLES: maxTables,
  COMPLETE: status.complete,
  BAD_CODE: status.badCode,
  OUT_OF_ORDER: status.outOfOrder,
  OUT_OF_RANGE: status.outOfRange,
  UNSETTLED: status.unsettled,
};
const signed = {
  GREATEST_DC: greatestDc,
  GREATEST_INPUT: greatestInput,
  GREATEST_PIXEL: greatestPixel,
  ...dctConstants,
};

const constants = [
  ...Object.entries(unsigned).map(([name, value]) => `const ${name} = ${value}u;`),
  ...Object.entries(signed).map(([name, value]) => `const ${name} = ${value}i;`),
].join('\n');

/** The WGSL of a pass: the constants that it shares with its reference, then files of this folder in order. */
export function wgslOf(...files: readonly string[]): string {
  const read = (name: string): string => readFileSync(new URL(`./${name}.wgsl`, import.meta.url), 'utf8');
  return [constants, read('common'), ...files.map(read)].join('\n');
}
