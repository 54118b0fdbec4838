import type { OpenSource } from '../merge.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';

/** What came of a source some of whose tiles are still to come. */
export function encodeOpenSource({ tilesLeft, counted, pixels, bins }: OpenSource): Uint8Array {
  const bytes = new ByteWriter();
  for (const value of [tilesLeft, counted, pixels]) bytes.uint(value);
  for (const count of bins ?? []) bytes.uint(count);
  return bytes.bytes;
}

/** Throws RangeError where it is not of a source with that many bins. */
export function decodeOpenSource(content: Uint8Array, binsOfSource: number): OpenSource {
  const bytes = new ByteReader(content);
  const [tilesLeft, counted, pixels] = [bytes.uint(), bytes.uint(), bytes.uint()];
  const bins = new Float64Array(binsOfSource);
  for (let i = 0; i < binsOfSource; i++) bins[i] = bytes.uint();
  if (!bytes.isAtEnd) throw new RangeError('There are more bins than the job has');
  return { state: 'open', tilesLeft, counted, pixels, bins };
}
