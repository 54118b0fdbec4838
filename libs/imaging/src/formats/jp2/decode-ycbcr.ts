import { InputError } from '@halogrid/sources';
import type { Codestream } from './codestream.ts';
import { decodeTile } from './decode-tile.ts';

/** The most pixels of a tile whose chroma is subsampled; slides have 65,536. */
const maxPixels = 2 ** 20;

/**
 * Red, green and blue of a codestream of one tile in Y, Cb and Cr of 8 bits: pixels share a sample of chroma, and
 * colours follow as OpenSlide computes them. `parts`: the bytes of its parts. Rejects with InputError.
 */
export async function decodeYcbcr(stream: Codestream, parts: readonly Buffer[]): Promise<Uint8Array> {
  const [across, down] = stream.chroma;
  const decode = (...components: number[]) => decodeTile(stream, 0, parts, { level: 0, components });
  if (across * down === 1) {
    const samples = await decode(0, 1, 2);
    const rgb = new Uint8Array(samples.length);
    for (let i = 0; i < rgb.length; i += 3) writeRgb(rgb, i, samples[i]!, samples[i + 1]!, samples[i + 2]!);
    return rgb;
  }
  const { x1: width, y1: height } = stream;
  if (width * height > maxPixels)
    throw new InputError(
      'decode',
      `It has ${width}x${height} pixels in YCbCr with fewer samples of chroma, and at most ${maxPixels} are decoded`,
    );
  // The binding of OpenJPEG gives out as many samples as the image has pixels, of one component or of three. If a
  // component has fewer samples, these come first, and other bytes of its memory follow.
  const [luma, chroma] = await Promise.all([decode(0), decode(1, 2, 1)]);
  const columns = Math.ceil(width / across);
  const rgb = new Uint8Array(3 * width * height);
  for (let y = 0, i = 0; y < height; y++) {
    const row = Math.floor(y / down) * columns;
    for (let x = 0; x < width; x++, i++) {
      const at = 3 * (row + Math.floor(x / across));
      writeRgb(rgb, 3 * i, luma[i]!, chroma[at]!, chroma[at + 1]!);
    }
  }
  return rgb;
}

const fixed = (weight: number): Int32Array =>
  Int32Array.from({ length: 256 }, (_, code) => Math.floor(weight * 65536 * (code - 128) + 0.5));

/** What chroma adds to luma, with 16 fractional bits: the tables of OpenSlide, which are libjpeg's but for green. */
const redsOfCr = Int32Array.from({ length: 256 }, (_, code) => (91881 * (code - 128) + 32768) >> 16);
const bluesOfCb = Int32Array.from({ length: 256 }, (_, code) => (116130 * (code - 128) + 32768) >> 16);
const [greensOfCb, greensOfCr] = [fixed(-0.34414), fixed(-0.71414)];

function writeRgb(rgb: Uint8Array, at: number, y: number, cb: number, cr: number): void {
  rgb[at] = clamp(y + redsOfCr[cr]!);
  rgb[at + 1] = clamp(y + ((greensOfCb[cb]! + greensOfCr[cr]! + 32768) >> 16));
  rgb[at + 2] = clamp(y + bluesOfCb[cb]!);
}

const clamp = (value: number): number => (value < 0 ? 0 : value > 255 ? 255 : value);
