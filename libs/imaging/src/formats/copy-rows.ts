import { open } from 'node:fs/promises';
import { type PixelType, type Size, sampleBytes } from '@halogrid/geometry';
import type { ImageCopy } from '../planes/image.ts';
import { asPixels, type PlaneTarget, planesOf } from '../planes/plane-target.ts';

/** The most samples of a band. A block larger than a band is decoded from its first row again for each band. */
const bandSamples = 2 ** 26;

/**
 * A copy of an image as a binary PGM or PPM. It is made in bands of at most `maxPixels` pixels, with whole groups of
 * `rowsTogether` rows if they fit. `decode` writes the rows from `y` on to the planes of a target.
 */
export function copyAsPnm(
  { width, height, pixel }: Size & { pixel: PixelType },
  { maxPixels, rowsTogether }: { maxPixels: number; rowsTogether: number },
  decode: (y: number, rows: number, to: PlaneTarget) => Promise<void>,
): ImageCopy {
  const unit = sampleBytes[pixel];
  return {
    bytes: (channels) => width * height * unit * planesOf(channels),
    async write(path, channels) {
      const planes = planesOf(channels);
      const most = Math.max(1, Math.floor(Math.min(bandSamples / planes, maxPixels) / width));
      const bandRows = most > rowsTogether ? most - (most % rowsTogether) : most;
      const planeBytes = Math.min(bandRows, height) * width * unit;
      const bytes = new Uint8Array(planeBytes * planes);
      const joined = planes === 3 ? new Uint8Array(bytes.length) : bytes;
      const file = await open(path, 'wx');
      try {
        await file.appendFile(`P${planes === 1 ? 5 : 6}\n${width} ${height}\n${2 ** (8 * unit) - 1}\n`);
        for (let y = 0; y < height; y += bandRows) {
          const rows = Math.min(bandRows, height - y);
          await decode(y, rows, { bytes, offset: 0, stride: width * unit, channels, planeBytes });
          const length = rows * width * unit * planes;
          if (planes === 3) join(bytes, joined, planeBytes, length, pixel);
          // In the file, the upper byte comes first.
          if (unit === 2) Buffer.from(joined.buffer, 0, length).swap16();
          await file.appendFile(joined.subarray(0, length));
        }
      } finally {
        await file.close();
      }
    },
  };
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
