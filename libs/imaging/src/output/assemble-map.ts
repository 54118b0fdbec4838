import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import sharp from 'sharp';
import { type ChunkSet, readMapRows } from './chunk-reader.ts';
import { MapTiffWriter } from './map-tiff.ts';

export interface MapOutput extends ChunkSet {
  /** Path of the file to write; its folder must exist. */
  to: string;
  format: 'tiff' | 'png';
  /** The convention tag; a TIFF carries it as its ImageDescription. */
  description: string;
}

/**
 * Makes the map of a source from its chunks: 8-bit gray, a pixel a code. Memory is about one band of 512 rows. The file
 * appears whole or not at all. Rejects with one sentence where a chunk is missing or damaged, and with the signal's reason
 * where `signal` aborts.
 */
export async function assembleMap(map: MapOutput, signal?: AbortSignal): Promise<void> {
  const tiff = `${map.to}.${randomUUID()}.tif.tmp`;
  const png = `${map.to}.${randomUUID()}.png.tmp`;
  try {
    await writeTiff(map, tiff, signal);
    if (map.format === 'png') await convertToPng(tiff, png);
    signal?.throwIfAborted();
    await rename(map.format === 'png' ? png : tiff, map.to);
  } finally {
    await rm(tiff, { force: true });
    await rm(png, { force: true });
  }
}

async function writeTiff(map: MapOutput, path: string, signal: AbortSignal | undefined): Promise<void> {
  const { width, height } = map.size;
  const writer = await MapTiffWriter.create(path, map.size, map.description);
  try {
    const band = new Uint8Array(width * Math.min(writer.bandRows, height));
    for (let y = 0; y < height; y += writer.bandRows) {
      signal?.throwIfAborted();
      const rows = Math.min(writer.bandRows, height - y);
      const part = band.subarray(0, rows * width);
      await readMapRows(map, y, rows, part);
      await writer.writeBand(part);
    }
  } catch (error) {
    await writer.abort();
    throw error;
  }
  await writer.finish();
}

/** Row by row, so that a map of any size needs little memory. */
async function convertToPng(tiff: string, png: string): Promise<void> {
  const options = { limitInputPixels: false, sequentialRead: true } as const;
  await sharp(tiff, options).toColourspace('b-w').png().toFile(png);
}
