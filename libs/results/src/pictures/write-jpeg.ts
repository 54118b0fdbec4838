import { writeFile } from 'node:fs/promises';
import type { Size } from '@halogrid/geometry';
import { loadSharp } from '@halogrid/imaging/sharp';

/** Writes interleaved 8-bit RGB as a baseline JPEG with 4:2:0 chroma, as cameras do. `quality` is 1 … 100. */
export async function writeJpeg(path: string, size: Size, rgb: Uint8Array, quality: number): Promise<void> {
  const raw = { width: size.width, height: size.height, channels: 3 } as const;
  const sharp = await loadSharp();
  await writeFile(path, await sharp(rgb, { raw }).jpeg({ quality, chromaSubsampling: '4:2:0' }).toBuffer());
}
