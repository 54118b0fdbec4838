import { readFile } from 'node:fs/promises';
import type { Size } from '@halogrid/geometry';
import { maxPlaceValues, type Place, placeTags } from '@halogrid/imaging/place';
import { type Chunk, chunkPath, writeChunk } from './chunk.ts';

/** What the map of a source takes over from it. */
export interface MapOrigin {
  place?: Place | undefined;
  /** Whether some of its pixels may have no value. */
  hasNoData?: boolean;
}

/** Where it is kept until the map is made. */
type OriginOf = Pick<Chunk, 'scratch' | 'source'> & { size: Size };

/** The most bytes of an origin: six tags of the most values, each of 25 characters at most. */
export const maxOriginBytes = 6 * maxPlaceValues * 25;

/** Keeps the origin of a map durably, because it is kept only if it says something. */
export async function writeOrigin(of: OriginOf, origin: MapOrigin): Promise<void> {
  if (!origin.place && !origin.hasNoData) return;
  const bytes = Buffer.from(JSON.stringify(origin));
  await writeChunk(chunkOf(of), { bytes, strideBytes: bytes.length, bandBytes: bytes.length });
}

/** The origin of a map. Rejects with one sentence if its chunk is damaged. */
export async function readOrigin(of: OriginOf): Promise<MapOrigin> {
  const path = chunkPath(chunkOf(of));
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return {};
  const origin = parse(text);
  if (!isOrigin(origin)) throw new Error(`The origin chunk '${path}' is damaged`);
  return origin;
}

const chunkOf = ({ scratch, source, size }: OriginOf): Chunk => {
  const rect = { x: 0, y: 0, ...size };
  return { scratch, kind: 'origin', source, size, type: { sample: 'u8', bands: 1 }, rect };
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isOrigin(value: unknown): value is MapOrigin {
  if (typeof value !== 'object' || value === null) return false;
  const { place, hasNoData = false } = value as MapOrigin;
  return typeof hasNoData === 'boolean' && (place === undefined || isPlace(place));
}

function isPlace(value: unknown): value is Place {
  const tags = (value as Partial<Place> | null)?.tags;
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
