import { readFile } from 'node:fs/promises';
import type { Size } from '@halogrid/geometry';
import { maxPlaceValues, type Place, placeTags } from '@halogrid/imaging/place';
import { type Chunk, chunkPath, writeChunk } from './chunk.ts';

/** Where the place of a source is kept until its map is made. */
type PlaceOf = Pick<Chunk, 'scratch' | 'source'> & { size: Size };

/** The most bytes of a place: six tags of the most values, each of 25 characters at most. */
export const maxPlaceBytes = 6 * maxPlaceValues * 25;

/** Keeps the place of a source, durably: what lacks a place may be a source without one. */
export async function writePlace(of: PlaceOf, place: Place): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(place));
  await writeChunk(chunkOf(of), { bytes, strideBytes: bytes.length, bandBytes: bytes.length });
}

/** The place of a source; undefined if it has none. Rejects with one sentence if its chunk is damaged. */
export async function readPlace(of: PlaceOf): Promise<Place | undefined> {
  const path = chunkPath(chunkOf(of));
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const place = parse(text);
  if (!isPlace(place)) throw new Error(`The place chunk '${path}' is damaged`);
  return place;
}

const chunkOf = ({ scratch, source, size }: PlaceOf): Chunk => {
  const rect = { x: 0, y: 0, ...size };
  return { scratch, kind: 'place', source, size, type: { sample: 'u8', bands: 1 }, rect };
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isPlace(value: unknown): value is Place {
  const tags = (value as Partial<Place> | undefined)?.tags;
  if (!Array.isArray(tags) || tags.length === 0) return false;
  const numbers = tags.map((tag) => tag?.tag);
  return numbers.every((tag, i) => i === 0 || tag > numbers[i - 1]) && tags.every(isTag);
}

function isTag({ tag, values }: { tag: number; values: unknown }): boolean {
  const stored = placeTags.get(tag);
  if (stored === 'text') return typeof values === 'string' && values.length <= maxPlaceValues;
  if (!stored || !Array.isArray(values) || values.length === 0 || values.length > maxPlaceValues) return false;
  return values.every((one) => (stored === 'shorts' ? (one & 0xffff) === one : Number.isFinite(one)));
}
