import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Size } from '@halogrid/geometry';
import { loadSharp } from '@halogrid/imaging/sharp';
import { piecesOf } from '../chunks/chunk.ts';
import { type ChunkSet, readMapRows, readShardRows } from '../chunks/chunk-reader.ts';
import { readOrigin } from '../chunks/origin-chunk.ts';
import { writeFileAtomically } from '../files/atomic-file.ts';
import type { MapCodec } from '../layout/map-codec.ts';
import type { MapKind } from '../layout/map-type.ts';
import { zarrChunkPx } from '../layout/map-zarr-layout.ts';
import { pngOptions } from '../pictures/encodings.ts';
import { compressShards } from './compress-shards.ts';
import type { CompressThreads } from './compress-threads.ts';
import { classicPlainBytes, deflateTiff } from './deflate-tiff.ts';
import { dziTilePx, dziXml, MapDziWriter } from './map-dzi.ts';
import { type MapFormat, whyNotHeld } from './map-format.ts';
import { MapTiffWriter } from './map-tiff.ts';
import { type MapTiffFacts, mapTilePx } from './map-tiff-layout.ts';
import { MapZarrWriter } from './map-zarr.ts';
import { buildPyramid, type MapWriter, pyramidSizes, stripRows } from './pyramid.ts';

export interface MapOutput extends ChunkSet {
  /** Path of the map, with the extension of the format. Its folder must exist, on the same file system as `scratch`. */
  to: string;
  format: MapFormat;
  kind: MapKind;
  /** Bins per channel of the result; 0 without a histogram. */
  bins: number;
  /** The convention tag, perhaps with the meaning of the bands, in Latin-1. TIFF and Zarr contain it. */
  description: string;
  /** Names of the bands, if there are several. */
  bandNames: readonly string[];
  /** They compress the tiles of compressed formats. */
  threads: CompressThreads;
}

/**
 * Makes the map of a source from its chunks: every sample as it was computed, whatever the tiles, and coarser levels by
 * `buildPyramid`. It takes at most about 80 MiB of memory, or that of a few rows (of 512 for Deep Zoom) if they need
 * more. Compressed formats take a tile more for each thread, and are first written without compression. The map grows
 * in the scratch folder, and appears whole or not at all. Rejects with one sentence if a chunk is
 * missing or damaged or the format cannot hold the map, and with the signal's reason if `signal` aborts.
 */
export async function assembleMap(map: MapOutput, signal?: AbortSignal): Promise<void> {
  const why = whyNotHeld(map.format, map.type, map.bins);
  if (why) throw new Error(`The map cannot be written, because ${why}`);
  const folder = join(fileURLToPath(map.scratch), `map-${randomUUID()}`);
  await mkdir(folder);
  try {
    const made = join(folder, 'made');
    await assemblers[map.format](map, made, signal);
    signal?.throwIfAborted();
    if (map.format === 'dzi') {
      await replace(made, dziFilesPath(map.to), folder);
      await writeFileAtomically(map.to, dziXml(map.size));
    } else {
      await replace(made, map.to, folder);
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

type Assembler = (map: MapOutput, path: string, signal: AbortSignal | undefined) => Promise<void>;

/** Functions that write a map in each format to a temporary path. */
const assemblers: Record<MapFormat, Assembler> = {
  async tiff(map, path, signal) {
    await writeTiff(map, path, await factsOf(map), signal);
  },

  async 'tiff:deflate'(map, path, signal) {
    const { size, type, threads } = map;
    const facts = await factsOf(map);
    const plain = `${path}.plain`;
    await writeTiff(map, plain, facts, signal, classicPlainBytes);
    await deflateTiff(plain, path, { size, type, facts }, { threads, signal });
  },

  zarr: (map, path, signal) => writeZarr(map, path, signal),

  async 'zarr:zstd'(map, path, signal) {
    await writeZarr(map, path, signal, 'zstd');
    await compressShards(path, pyramidSizes(map.size, zarrChunkPx), map.type, { threads: map.threads, signal });
  },

  async dzi(map, path, signal) {
    const { type, bins } = map;
    const sizes = pyramidSizes(map.size, 1);
    const writer = await MapDziWriter.create({ files: path, sizes, type, bins });
    await writeLevels(map, sizes, writer, signal, { rows: dziTilePx });
  },

  /** Converts a TIFF without coarser levels row by row, so that a map of any size needs little memory. */
  async png(map, path, signal) {
    const { type, description } = map;
    const tiff = `${path}.tif`;
    await writeLevels(map, [map.size], await MapTiffWriter.create(tiff, [map.size], type, { description }), signal);
    const options = { limitInputPixels: false, sequentialRead: true } as const;
    // Without `grey16` a map of 16 bits would be reduced to 8.
    const colours = type.bands === 3 ? 'srgb' : type.sample === 'u16' ? 'grey16' : 'b-w';
    const sharp = await loadSharp();
    await sharp(tiff, options).toColourspace(colours).png(pngOptions).toFile(path);
  },
};

async function factsOf({ description, bandNames, ...map }: MapOutput): Promise<MapTiffFacts> {
  return { description, bandNames, ...(await readOrigin(map)) };
}

async function writeTiff(
  map: MapOutput,
  path: string,
  facts: MapTiffFacts,
  signal: AbortSignal | undefined,
  classicBytes?: number,
): Promise<void> {
  const sizes = pyramidSizes(map.size, mapTilePx);
  const writer = await MapTiffWriter.create(path, sizes, map.type, facts, classicBytes);
  await writeLevels(map, sizes, writer, signal, facts);
}

/** `codec` is how its chunks will be compressed. */
async function writeZarr(
  map: MapOutput,
  path: string,
  signal: AbortSignal | undefined,
  codec?: MapCodec,
): Promise<void> {
  const { type, kind } = map;
  const sizes = pyramidSizes(map.size, zarrChunkPx);
  const name = basename(map.to, extname(map.to));
  const pieces = map.rects.flatMap((rect) => piecesOf(rect, map.size, type, true));
  const firstLevel = pieces.every((piece) => piece.kind === 'shard') ? 1 : 0;
  const facts = await factsOf(map);
  const writer = await MapZarrWriter.create({ path, sizes, firstLevel, type, kind, name, ...facts, codec });
  if (firstLevel === 0) return await writeLevels(map, sizes, writer, signal, facts);
  for (const piece of pieces) {
    signal?.throwIfAborted();
    await writer.addShard({ ...map, ...piece });
  }
  if (sizes.length === 1) return;
  const shards = { ...map, rects: pieces.map(({ rect }) => rect) };
  await writeLevels(shards, sizes, writer, signal, { ...facts, readRows: readShardRows });
}

async function writeLevels(
  map: MapOutput,
  sizes: readonly Size[],
  writer: MapWriter,
  signal: AbortSignal | undefined,
  {
    rows = stripRows(map.size.width, map.type, mapTilePx),
    readRows = readMapRows,
    hasNoData = false,
  }: { rows?: number; readRows?: typeof readMapRows; hasNoData?: boolean } = {},
): Promise<void> {
  try {
    await buildPyramid({
      sizes,
      type: map.type,
      kind: map.kind,
      hasNoData,
      stripRows: rows,
      read(y, height, strip) {
        signal?.throwIfAborted();
        return readRows(map, y, height, strip);
      },
      write: (level, y, height, strip) => writer.writeRows(level, y, height, strip),
    });
  } catch (error) {
    await writer.abort();
    throw error;
  }
  await writer.finish();
}

/** The folder with the tiles of Deep Zoom. */
const dziFilesPath = (to: string): string => `${to.slice(0, -extname(to).length)}_files`;

/** Renames `path` to `to`. A file or folder that an earlier attempt left there is first moved into `aside`. */
async function replace(path: string, to: string, aside: string): Promise<void> {
  await rename(to, join(aside, 'replaced')).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(path, to);
}
