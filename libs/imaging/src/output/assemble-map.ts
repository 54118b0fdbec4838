import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import sharp from 'sharp';
import { type ChunkSet, readMapRows } from './chunk-reader.ts';
import { MapTiffWriter } from './map-tiff.ts';
import { type MapType, pixelBytes } from './map-type.ts';

export interface MapOutput extends ChunkSet {
  /** Path of the file to write; its folder must exist. */
  to: string;
  format: 'tiff' | 'png';
  /** The convention tag, perhaps with what the bands are; a TIFF carries it as its ImageDescription. Latin-1. */
  description: string;
}

/** What PNG has a form for: gray of 8 or 16 bits, and RGB of 8. */
export function pngCanHold({ sample, bands }: MapType): boolean {
  return sample === 'u8' ? bands === 1 || bands === 3 : sample === 'u16' && bands === 1;
}

/**
 * Makes the map of a source from its chunks: every sample as it was computed, whatever the tiles. Memory is at most about
 * 128 MiB, or a few rows where those need more. The file appears whole or not at all. Rejects with one sentence where a chunk is missing or damaged
 * or `pngCanHold` forbids the format, and with the signal's reason where `signal` aborts.
 */
export async function assembleMap(map: MapOutput, signal?: AbortSignal): Promise<void> {
  if (map.format === 'png' && !pngCanHold(map.type)) {
    const { bands, sample } = map.type;
    throw new Error(`A PNG holds one band of u8 or u16 or three of u8, not ${bands} of ${sample}`);
  }
  const tiff = `${map.to}.${randomUUID()}.tif.tmp`;
  const png = `${map.to}.${randomUUID()}.png.tmp`;
  try {
    await writeTiff(map, tiff, signal);
    if (map.format === 'png') await convertToPng(tiff, png, map.type);
    signal?.throwIfAborted();
    await rename(map.format === 'png' ? png : tiff, map.to);
  } finally {
    await rm(tiff, { force: true });
    await rm(png, { force: true });
  }
}

async function writeTiff(map: MapOutput, path: string, signal: AbortSignal | undefined): Promise<void> {
  const { width, height } = map.size;
  const rowBytes = width * pixelBytes(map.type);
  const writer = await MapTiffWriter.create(path, map.size, map.type, map.description);
  try {
    const strip = new Uint8Array(rowBytes * Math.min(writer.stripRows, height));
    for (let y = 0; y < height; y += writer.stripRows) {
      signal?.throwIfAborted();
      const rows = Math.min(writer.stripRows, height - y);
      const part = strip.subarray(0, rows * rowBytes);
      await readMapRows(map, y, rows, part);
      await writer.writeStrip(part);
    }
  } catch (error) {
    await writer.abort();
    throw error;
  }
  await writer.finish();
}

/** Row by row, so that a map of any size needs little memory. */
async function convertToPng(tiff: string, png: string, { sample, bands }: MapType): Promise<void> {
  const options = { limitInputPixels: false, sequentialRead: true } as const;
  // Without `grey16` a map of 16 bits would be reduced to 8.
  const colours = bands === 3 ? 'srgb' : sample === 'u16' ? 'grey16' : 'b-w';
  await sharp(tiff, options).toColourspace(colours).png().toFile(png);
}
