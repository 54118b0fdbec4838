import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Size } from '@halogrid/geometry';
import { decodeJpeg } from '@halogrid/imaging';
import { poolThreads } from '@halogrid/threads/pool-threads';

/**
 * Frames a second that decoding alone reaches: `frames` JPEGs of one size, already in memory and taken in turn, decoded
 * to luma with two calls in flight for each thread of libuv's pool, so that no thread waits.
 */
export async function measureDecodeRate(jpegs: readonly Uint8Array[], size: Size, frames: number): Promise<number> {
  const lanes = 2 * poolThreads();
  let next = 0;
  const decodeInTurn = async () => {
    const bytes = new Uint8Array(size.width * size.height);
    const target = { bytes, offset: 0, stride: size.width, channels: 'gray', planeBytes: 0 } as const;
    while (next < frames) await decodeJpeg(jpegs[next++ % jpegs.length]!, target);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: lanes }, decodeInTurn));
  return frames / ((performance.now() - start) / 1000);
}

/** Files a second that reading every file of a folder once reaches, with two in flight for each thread of libuv's pool. */
export async function measureReadRate(folder: string): Promise<number> {
  const names = await readdir(folder);
  const lanes = 2 * poolThreads();
  let next = 0;
  const readInTurn = async () => {
    while (next < names.length) await readFile(join(folder, names[next++]!));
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: lanes }, readInTurn));
  return names.length / ((performance.now() - start) / 1000);
}
