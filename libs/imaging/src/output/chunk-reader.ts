import { open } from 'node:fs/promises';
import type { Rect } from '../input/rect.ts';
import { type Chunk, chunkPath } from './chunk.ts';
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
  /** The parts in which it was computed; together every pixel once. */
  rects: readonly Rect[];
}

/**
 * Reads rows `y` to `y + height` of a source's map, without gaps between rows, into `target`. Rejects with one sentence
 * where a chunk is missing or has another length than its name says.
 */
export async function readMapRows(
  { scratch, source, size, rects }: ChunkSet,
  y: number,
  height: number,
  target: Uint8Array,
): Promise<void> {
  const wanted = rects.filter((rect) => rect.y < y + height && rect.y + rect.height > y).values();
  const work = async (): Promise<void> => {
    for (const rect of wanted) {
      const top = Math.max(rect.y, y);
      const rows = Math.min(rect.y + rect.height, y + height) - top;
      const chunk: Chunk = { scratch, kind: 'map', source, size, rect };
      const area = { width: rect.width, height: rect.height };
      if (rect.width === size.width) {
        const part = target.subarray((top - y) * size.width, (top - y + rows) * size.width);
        await readChunkRows(chunk, area, top - rect.y, part);
      } else {
        const part = new Uint8Array(rows * rect.width);
        await readChunkRows(chunk, area, top - rect.y, part);
        copyRows(part, rect.width, target, (top - y) * size.width + rect.x, size.width);
      }
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, work));
}

/** Fills `target` with rows from `firstRow` on, of a chunk file that holds `area` pixels. */
export async function readChunkRows(chunk: Chunk, area: Size, firstRow: number, target: Uint8Array): Promise<void> {
  const path = chunkPath(chunk);
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`The ${chunk.kind} chunk '${path}' is missing`) : error;
  });
  try {
    const { size } = await file.stat();
    if (size !== area.width * area.height) {
      throw new Error(`The ${chunk.kind} chunk '${path}' holds ${size} bytes instead of ${area.width * area.height}`);
    }
    for (let done = 0; done < target.length; ) {
      const { bytesRead } = await file.read(target, done, target.length - done, firstRow * area.width + done);
      if (bytesRead === 0) throw new Error(`The ${chunk.kind} chunk '${path}' became shorter while it was read`);
      done += bytesRead;
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
