import { constants, copyFile, link, mkdir, open, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Size, sampleBytes } from '@halogrid/geometry';
import type { Place } from '@halogrid/imaging/place';
import type { Chunk } from '../chunks/chunk.ts';
import { withChunkFile } from '../chunks/chunk-reader.ts';
import { shardAt } from '../chunks/shard-content.ts';
import type { MapCodec } from '../layout/map-codec.ts';
import type { MapKind, MapType } from '../layout/map-type.ts';
import {
  layOutZarrLevel,
  shardPath,
  type ZarrLevel,
  ZarrShard,
  zarrArrayJson,
  zarrGroupJson,
} from '../layout/map-zarr-layout.ts';
import type { MapWriter } from './pyramid.ts';
import { cutPiece, writeFully } from './strip-piece.ts';

export interface MapZarrOptions {
  /** The folder, which must not exist. */
  path: string;
  sizes: readonly Size[];
  /** The first level that is written as rows: 0, or 1 if level 0 consists of shards that exist already. */
  firstLevel?: 0 | 1;
  type: MapType;
  kind: MapKind;
  /** The name of the image. */
  name: string;
  description: string;
  place?: Place | undefined;
  /** Whether some pixels may have no value. */
  hasNoData?: boolean;
  /** How chunks will be compressed once the writer has finished: see `compressShards`. */
  codec?: MapCodec | undefined;
}

/**
 * Writes a map and its coarser levels as OME-Zarr: an array per level, in shards. Chunks are not compressed, so the
 * place of each chunk is known in advance. It holds a part of one chunk in memory, and keeps no file open.
 */
export class MapZarrWriter implements MapWriter {
  readonly #path: string;
  readonly #levels: readonly ZarrLevel[];
  readonly #firstLevel: number;
  readonly #type: MapType;

  static async create(options: MapZarrOptions): Promise<MapZarrWriter> {
    const { path, sizes, firstLevel = 0, type, kind, name, description, place, hasNoData, codec } = options;
    const levels = sizes.map((size) => layOutZarrLevel(size, type));
    await mkdir(path);
    await writeDurably(
      join(path, 'zarr.json'),
      zarrGroupJson(levels.length, type.bands, kind, { name, description, place }),
    );
    for (const [i, level] of levels.entries()) {
      await mkdir(join(path, String(i)));
      await writeDurably(join(path, String(i), 'zarr.json'), zarrArrayJson(level, type, { hasNoData, codec }));
    }
    return new MapZarrWriter(path, levels, firstLevel, type);
  }

  private constructor(path: string, levels: readonly ZarrLevel[], firstLevel: number, type: MapType) {
    this.#path = path;
    this.#levels = levels;
    this.#firstLevel = firstLevel;
    this.#type = type;
  }

  /** The rows must not reach into a second row of chunks. */
  async writeRows(level: number, y: number, rows: number, strip: Uint8Array): Promise<void> {
    if (level < this.#firstLevel) return;
    const { size, chunk, chunks, perShard } = this.#levels[level]!;
    const { sample, bands } = this.#type;
    const band1 = { sample, bands: 1 };
    const rowBytes = chunk.width * sampleBytes[sample];
    const piece = new Uint8Array(rows * rowBytes);
    const area = { width: size.width, height: rows };
    const chunkRow = Math.floor(y / chunk.height);
    const shardRow = Math.floor(chunkRow / perShard.height);
    for (let column = 0; column * perShard.width < chunks.width; column++) {
      const shard = new ZarrShard(this.#levels[level]!, bands, column, shardRow);
      const isFirst = y === shard.y * chunk.height;
      const isLast = y + rows === Math.min((shard.y + shard.height) * chunk.height, size.height);
      const path = shardPath(this.#path, this.#type, level, shardRow, column);
      if (isFirst) await mkdir(dirname(path), { recursive: true });
      const file = await open(path, isFirst ? 'wx' : 'r+');
      try {
        // The parts of chunks below the array are never written, and read as 0.
        if (isFirst) await writeFully(file, shard.index(), shard.chunksBytes);
        for (let band = 0; band < bands; band++) {
          const plane = strip.subarray((band * strip.length) / bands, ((band + 1) * strip.length) / bands);
          for (let x = 0; x < shard.width; x++) {
            cutPiece(plane, area, band1, (shard.x + x) * chunk.width, chunk.width, piece);
            const at = shard.offset(band, chunkRow - shard.y, x) + (y % chunk.height) * rowBytes;
            await writeFully(file, piece, at);
          }
        }
        if (isLast) await file.sync();
      } finally {
        await file.close();
      }
    }
  }

  /**
   * Links the file of a shard of level 0 into the Zarr, or copies it if the file system has no links. The file also
   * stays in its place, so that an output that was not completed can be made again.
   */
  async addShard(chunk: Chunk): Promise<void> {
    const { level, shard } = shardAt(chunk.rect, chunk.size, chunk.type);
    const { perShard } = level;
    const path = shardPath(this.#path, this.#type, 0, shard.y / perShard.height, shard.x / perShard.width);
    await mkdir(dirname(path), { recursive: true });
    await withChunkFile(chunk, shard.bytes, async (file, from) => {
      await file.sync();
      await link(from, path).catch(() => copyDurably(from, path));
    });
  }

  async finish(): Promise<void> {}

  async abort(): Promise<void> {}
}

async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  const copy = await open(to, 'r');
  try {
    await copy.sync();
  } finally {
    await copy.close();
  }
}

const writeDurably = (path: string, text: string): Promise<void> => writeFile(path, text, { flag: 'wx', flush: true });
