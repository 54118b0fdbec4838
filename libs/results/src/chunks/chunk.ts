import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Rect, Size } from '@halogrid/geometry';
import { allowedPath, giveBackBytes, takeBytes } from '@halogrid/sources';
import { syncFolder } from '../files/atomic-file.ts';
import { putFile } from '../files/put-file.ts';
import type { MapType } from '../layout/map-type.ts';
import { wholeShards } from '../layout/map-zarr-layout.ts';
import { type PlanarSamples, packSamples, samplePreview, type TakeMemory } from './planar-samples.ts';
import { shardContent } from './shard-content.ts';
import { sumBlocks } from './source-sums.ts';

/**
 * What a chunk holds. `map`: every pixel of a part of a map. `preview`: every `previewStride`-th pixel. `shard`: every
 * pixel, as in a shard of the map's Zarr. `sums`: sums of the source's blocks of `previewStride` x `previewStride`
 * pixels. `origin`: what the map takes over from the
 * source.
 */
export const chunkKinds = ['map', 'preview', 'shard', 'sums', 'origin'] as const;
export type ChunkKind = (typeof chunkKinds)[number];

/** A piece of a map, and where it is kept until the output is assembled. */
export interface Chunk {
  /**
   * Folder URI for the unfinished results of the job. A `file:` folder must exist; to an `http(s):` one chunks are
   * sent.
   */
  scratch: string;
  kind: ChunkKind;
  /** Index of the source in the job. */
  source: number;
  /** Size of the whole image in pixels. */
  size: Size;
  type: MapType;
  /** The part of the image that was computed, also for `preview` and `sums`. */
  rect: Rect;
}

/**
 * How a part of a map is kept until the output is assembled. If `asShards`, and if the part cuts no shard: as shards of
 * the Zarr, which become files of the output unchanged. Else as one chunk.
 */
export function piecesOf(
  part: Rect,
  size: Size,
  type: MapType,
  asShards: boolean,
): { kind: 'map' | 'shard'; rect: Rect }[] {
  const shards = asShards ? wholeShards(part, size, type) : undefined;
  return shards?.map((rect) => ({ kind: 'shard', rect })) ?? [{ kind: 'map', rect: part }];
}

/** The path of the chunk: the same for every attempt at the same work. */
export function chunkPath(chunk: Chunk): string {
  return join(fileURLToPath(chunk.scratch), chunkName(chunk));
}

/** Whether there are chunks of this kind for the source. */
export async function hasChunks(scratch: string, kind: ChunkKind, source: number): Promise<boolean> {
  const folder = join(fileURLToPath(scratch), kind, String(source));
  return (await stat(folder).catch(() => undefined)) !== undefined;
}

function chunkName({ kind, source, type, rect }: Chunk): string {
  return `${kind}/${source}/${rect.x}-${rect.y}-${rect.width}-${rect.height}.${type.sample}`;
}

/**
 * Writes the samples of `chunk.rect` to a file, or sends them. The file has the bands one after another, each as raw
 * rows without gaps, unless it is a shard. It appears whole under its name or not at all, so attempts may race; equal
 * attempts write equal bytes. A preview chunk without a sampled pixel has no file.
 *
 * Rejects if the scratch folder is gone: then the job has ended, and late attempts must leave nothing behind. Only
 * origins are synced to the disk. The length of a chunk shows whether it was lost with its machine, and syncing each
 * chunk would cost more than computing it.
 */
export async function writeChunk(chunk: Chunk, samples: PlanarSamples): Promise<void> {
  const taken: Buffer<ArrayBuffer>[] = [];
  const take = (length: number): Uint8Array => {
    const bytes = takeBytes(length);
    taken.push(bytes);
    return bytes;
  };
  try {
    await keep(chunk, contentOf(chunk, samples, take));
  } finally {
    for (const bytes of taken) giveBackBytes(bytes);
  }
}

async function keep(chunk: Chunk, content: Uint8Array): Promise<void> {
  if (content.length === 0) return;
  if (!chunk.scratch.startsWith('file:'))
    return await putFile(`${chunk.scratch}/${chunkName(chunk)}`, content, 'chunk');

  await allowedPath(fileURLToPath(chunk.scratch));
  const path = chunkPath(chunk);
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const flush = chunk.kind === 'origin';
    await writeFile(temporary, content, { flush }).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      await makeFolders(chunk);
      await writeFile(temporary, content, { flush });
    });
    await rename(temporary, path);
    if (flush) await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The content of a chunk's file. `take` returns memory that may hold anything. */
function contentOf({ kind, size, type, rect }: Chunk, samples: PlanarSamples, take: TakeMemory): Uint8Array {
  switch (kind) {
    case 'map':
      return packSamples(samples, type, rect, take);
    case 'preview':
      return samplePreview(samples, type, rect, size);
    case 'sums':
      return sumBlocks({ size, type, rect }, samples);
    case 'shard':
      return shardContent(samples, type, rect, size, take);
    case 'origin':
      return samples.bytes;
  }
}

/** Makes the chunk's folder, but never the scratch folder. */
async function makeFolders(chunk: Chunk): Promise<void> {
  const folder = dirname(chunkPath(chunk));
  for (const path of [dirname(folder), folder]) {
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}
