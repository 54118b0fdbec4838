import { type FileHandle, open } from 'node:fs/promises';
import { type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import { forEachLimited } from '@halogrid/threads';
import { bytesPerPixel, type MapType } from '../layout/map-type.ts';
import { type Chunk, chunkPath } from './chunk.ts';
import { shardAt } from './shard-content.ts';

/** Chunks read at once: as many as libuv has threads by default, so that small files do not wait for each other. */
const readsAtOnce = 4;

/** The map of a source that is still in chunks. */
export interface ChunkSet {
  /** Folder URI (`file:`) in which the chunks lie. */
  scratch: string;
  /** Index of the source in the job. */
  source: number;
  size: Size;
  type: MapType;
  /** The parts in which the map was computed. Together they have every pixel once. */
  rects: readonly Rect[];
}

/**
 * Reads `height` rows of a source's map, from row `y` on, into `target`: the bands one after another, each without gaps
 * between rows. Rejects with one sentence if a chunk is missing or has another length than its name says.
 */
export async function readMapRows(set: ChunkSet, y: number, height: number, target: Uint8Array): Promise<void> {
  const { scratch, source, size, type } = set;
  const unit = sampleBytes[type.sample];
  const strideBytes = size.width * unit;
  await forEachInRows(set.rects, y, height, async (rect) => {
    const top = Math.max(rect.y, y);
    const rows = Math.min(rect.y + rect.height, y + height) - top;
    const chunk: Chunk = { scratch, kind: 'map', source, size, type, rect };
    const at = (band: number): number => (band * height + top - y) * strideBytes + rect.x * unit;
    const bands = Array.from({ length: type.bands }, (_, band) => {
      if (rect.width === size.width) return target.subarray(at(band), at(band) + rows * strideBytes);
      return new Uint8Array(rows * rect.width * unit);
    });
    await readChunkRows(chunk, rect, top - rect.y, bands);
    if (rect.width === size.width) return;
    bands.forEach((part, band) => {
      copyRows(part, rect.width * unit, target, at(band), strideBytes);
    });
  });
}

/**
 * Does what `readMapRows` does, but for a map that is kept as shards of its Zarr. The rows must lie in one row of
 * chunks.
 */
export async function readShardRows(set: ChunkSet, y: number, height: number, target: Uint8Array): Promise<void> {
  const { scratch, source, size, type } = set;
  const unit = sampleBytes[type.sample];
  const strideBytes = size.width * unit;
  await forEachInRows(set.rects, y, height, async (rect) => {
    const { level, shard } = shardAt(rect, size, type);
    const { chunk } = level;
    const rowBytes = chunk.width * unit;
    const [chunkRow, firstRow] = [Math.floor((y - rect.y) / chunk.height), (y - rect.y) % chunk.height];
    const part = new Uint8Array(height * rowBytes);
    await withChunkFile({ scratch, kind: 'shard', source, size, type, rect }, shard.bytes, async (file) => {
      for (let band = 0; band < type.bands; band++) {
        for (let column = 0; column < shard.width; column++) {
          await readFully(file, part, shard.offset(band, chunkRow, column) + firstRow * rowBytes);
          const x = rect.x + column * chunk.width;
          const at = band * height * strideBytes + x * unit;
          copyColumns(part, rowBytes, Math.min(chunk.width, size.width - x) * unit, target, at, strideBytes);
        }
      }
    });
  });
}

/** Calls `act` with each rectangle that reaches into the rows, a few at once. */
async function forEachInRows(
  rects: readonly Rect[],
  y: number,
  height: number,
  act: (rect: Rect) => Promise<void>,
): Promise<void> {
  const wanted = rects.filter((rect) => rect.y < y + height && rect.y + rect.height > y);
  await forEachLimited(wanted, readsAtOnce, act);
}

/** Fills `bands` with rows of the bands, from `firstRow` on, of a chunk file that holds `area` pixels. */
export async function readChunkRows(chunk: Chunk, area: Size, firstRow: number, bands: Uint8Array[]): Promise<void> {
  await withChunkFile(chunk, area.width * area.height * bytesPerPixel(chunk.type), async (file) => {
    const rowBytes = area.width * sampleBytes[chunk.type.sample];
    for (const [band, target] of bands.entries()) {
      await readFully(file, target, (band * area.height + firstRow) * rowBytes);
    }
  });
}

/** Opens the file of a chunk for `use`. Rejects with one sentence unless the file has `expectedBytes`. */
export async function withChunkFile(
  chunk: Chunk,
  expectedBytes: number,
  use: (file: FileHandle, path: string) => Promise<void>,
): Promise<void> {
  const path = chunkPath(chunk);
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`The ${chunk.kind} chunk '${path}' is missing`) : error;
  });
  try {
    const { size } = await file.stat();
    if (size !== expectedBytes) {
      throw new Error(`The ${chunk.kind} chunk '${path}' holds ${size} bytes instead of ${expectedBytes}`);
    }
    await use(file, path);
  } finally {
    await file.close();
  }
}

/** Fills `target` with the bytes of the file from `position` on. */
export async function readFully(file: FileHandle, target: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < target.length; ) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) throw new Error('A chunk became shorter while it was read');
    done += bytesRead;
  }
}

/** Copies rows of `width` bytes without gaps to rows that are `stride` bytes apart, from `offset` on. */
export function copyRows(from: Uint8Array, width: number, to: Uint8Array, offset: number, stride: number): void {
  copyColumns(from, width, width, to, offset, stride);
}

/** Copies the first `width` bytes of each row. The rows are `fromStride` and `stride` bytes apart. */
function copyColumns(
  from: Uint8Array,
  fromStride: number,
  width: number,
  to: Uint8Array,
  offset: number,
  stride: number,
): void {
  for (let at = 0, into = offset; at < from.length; at += fromStride, into += stride) {
    to.set(from.subarray(at, at + width), into);
  }
}
