import { type FileHandle, open } from 'node:fs/promises';
import { type PixelType, type Size, sampleBytes } from '@halogrid/geometry';
import type { ImageCopy } from '../planes/image.ts';
import { asPixels, type PlaneTarget, planesOf } from '../planes/plane-target.ts';

/** The most samples of a band. A block larger than a band is decoded from its first row again for each band. */
const bandSamples = 2 ** 26;

/**
 * A copy of an image as a binary PGM or PPM. If several bands are read of it, there are `grayPlanes` planes of gray,
 * which lie in a PGM one below another. The copy is made in bands of at most `maxPixels` pixels, with whole groups of
 * `rowsTogether` rows if they fit. `decode` writes the rows from `y` on to the planes of a target.
 */
export function copyAsPnm(
  { width, height, pixel, grayPlanes = 1 }: Size & { pixel: PixelType; grayPlanes?: number | undefined },
  { maxPixels, rowsTogether }: { maxPixels: number; rowsTogether: number },
  decode: (y: number, rows: number, to: PlaneTarget) => Promise<void>,
): ImageCopy {
  const unit = sampleBytes[pixel];
  const planesIn = (channels: PlaneTarget['channels']) => (channels === 'gray' ? grayPlanes : planesOf(channels));
  return {
    bytes: (channels) => width * height * unit * planesIn(channels),
    async write(path, channels) {
      const planes = planesIn(channels);
      const most = Math.max(1, Math.floor(Math.min(bandSamples / planes, maxPixels) / width));
      const bandRows = most > rowsTogether ? most - (most % rowsTogether) : most;
      const planeBytes = Math.min(bandRows, height) * width * unit;
      const bytes = new Uint8Array(planeBytes * planes);
      const joined = channels === 'rgb' ? new Uint8Array(bytes.length) : bytes;
      const [type, rowsOfFile] = channels === 'rgb' ? [6, height] : [5, planes * height];
      const header = Buffer.from(`P${type}\n${width} ${rowsOfFile}\n${2 ** (8 * unit) - 1}\n`);
      const file = await open(path, 'wx');
      try {
        await writeAt(file, header, 0);
        for (let y = 0; y < height; y += bandRows) {
          const rows = Math.min(bandRows, height - y);
          await decode(y, rows, { bytes, offset: 0, stride: width * unit, channels, planeBytes });
          const length = rows * width * unit;
          if (channels === 'rgb') join(bytes, joined, planeBytes, length * planes, pixel);
          // In the file, the upper byte comes first.
          if (unit === 2) Buffer.from(joined.buffer).swap16();
          const rowBytes = width * unit;
          // Colours are one part of the file, planes are parts of their own.
          const [parts, partBytes] = channels === 'rgb' ? [1, planes * length] : [planes, length];
          for (let part = 0; part < parts; part++) {
            const own = joined.subarray(part * planeBytes, part * planeBytes + partBytes);
            const row = channels === 'rgb' ? planes * y : part * height + y;
            await writeAt(file, own, header.length + row * rowBytes);
          }
        }
      } finally {
        await file.close();
      }
    },
  };
}

async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}

/** Interleaves the samples of three planes, which are `planeBytes` apart, into `length` bytes. */
function join(planes: Uint8Array, joined: Uint8Array, planeBytes: number, length: number, pixel: PixelType): void {
  const unit = sampleBytes[pixel];
  const [from, to] = [asPixels(planes, pixel), asPixels(joined, pixel)];
  const step = planeBytes / unit;
  for (let i = 0, at = 0; at < length / unit; i++, at += 3) {
    to[at] = from[i]!;
    to[at + 1] = from[i + step]!;
    to[at + 2] = from[i + 2 * step]!;
  }
}
