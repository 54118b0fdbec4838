import { open } from 'node:fs/promises';
import type { Rect } from '../input/rect.ts';
import { type Chunk, chunkPath } from './chunk.ts';
import { type MapType, pixelBytes, sampleBytes } from './map-type.ts';
import type { Size } from './size.ts';

/** Chunks read at once: as many as libuv has threads by default, so that small files do not wait for each other. */
const readsAtOnce = 4;

/** What a source's chunks make up. */
export interface ChunkSet {
  /** Folder URI (`file:`) in which the chunks lie. */
  scratch: string;
  /** Index of the source in the job. */
  source: number;
  size: Size;
  type: MapType;
  /** The parts in which it was computed; together every pixel once. */
  rects: readonly Rect[];
}

/**
 * Reads rows `y` to `y + height` of a source's map into `target`: the bands one after another, each without gaps between
 * rows. Rejects with one sentence where a chunk is missing or has another length than its name says.
 */
export async function readMapRows(set: ChunkSet, y: number, height: number, target: Uint8Array): Promise<void> {
  const { scratch, source, size, type } = set;
  const unit = sampleBytes[type.sample];
  const strideBytes = size.width * unit;
  const wanted = set.rects.filter((rect) => rect.y < y + height && rect.y + rect.height > y).values();
  const work = async (): Promise<void> => {
    for (const rect of wanted) {
      const top = Math.max(rect.y, y);
      const rows = Math.min(rect.y + rect.height, y + height) - top;
      const chunk: Chunk = { scratch, kind: 'map', source, size, type, rect };
      const at = (band: number): number => (band * height + top - y) * strideBytes + rect.x * unit;
      const bands = Array.from({ length: type.bands }, (_, band) => {
        if (rect.width === size.width) return target.subarray(at(band), at(band) + rows * strideBytes);
        return new Uint8Array(rows * rect.width * unit);
      });
      await readChunkRows(chunk, rect, top - rect.y, bands);
      if (rect.width === size.width) continue;
      bands.forEach((part, band) => {
        copyRows(part, rect.width * unit, target, at(band), strideBytes);
      });
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, work));
}

/** Fills each band's bytes with its rows from `firstRow` on, of a chunk file that holds `area` pixels. */
export async function readChunkRows(chunk: Chunk, area: Size, firstRow: number, bands: Uint8Array[]): Promise<void> {
  const path = chunkPath(chunk);
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`The ${chunk.kind} chunk '${path}' is missing`) : error;
  });
  try {
    const expected = area.width * area.height * pixelBytes(chunk.type);
    const { size } = await file.stat();
    if (size !== expected) {
      throw new Error(`The ${chunk.kind} chunk '${path}' holds ${size} bytes instead of ${expected}`);
    }
    const rowBytes = area.width * sampleBytes[chunk.type.sample];
    for (const [band, target] of bands.entries()) {
      const from = (band * area.height + firstRow) * rowBytes;
      for (let done = 0; done < target.length; ) {
        const { bytesRead } = await file.read(target, done, target.length - done, from + done);
        if (bytesRead === 0) throw new Error(`The ${chunk.kind} chunk '${path}' became shorter while it was read`);
        done += bytesRead;
      }
    }
  } finally {
    await file.close();
  }
}

/** Copies rows of `width` bytes without gaps to rows that are `stride` bytes apart, from `offset` on. */
export function copyRows(from: Uint8Array, width: number, to: Uint8Array, offset: number, stride: number): void {
  for (let at = 0, into = offset; at < from.length; at += width, into += stride) {
    to.set(from.subarray(at, at + width), into);
  }
}
