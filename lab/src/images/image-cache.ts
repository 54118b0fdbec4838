import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { randomBytes } from '@halogrid/bench/random';
import type { Size } from '@halogrid/geometry';
import { openImage } from '@halogrid/imaging';
import { writeFileAtomically } from '@halogrid/results';
import { makeFolders } from '@halogrid/service';

/** Random images, made once and kept as files. */
export class ImageCache {
  readonly #roots: readonly string[];

  /** The files are in the first of `roots` that can be written. */
  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** The red, green and blue plane of image `index` (1, 2, …) of a size. */
  async load(size: Size, index: number): Promise<Uint8Array> {
    const name = `random-${size.width}x${size.height}-${index}.tif`;
    const folders = this.#roots.map((root) => join(root, 'bench-images'));
    for (const folder of folders) {
      const planes = await readPlanes(join(folder, name), size).catch(() => undefined);
      if (planes) return planes;
    }
    const tiff = uncompressedTiff(size, randomImage(size, index));
    const refusals: string[] = [];
    for (const folder of folders) {
      try {
        await makeFolders(folder, 0o700);
        await writeFileAtomically(join(folder, name), tiff);
        return await readPlanes(join(folder, name), size);
      } catch (error) {
        refusals.push((error as Error).message);
      }
    }
    throw new Error(`The image ${name} cannot be kept: ${refusals.join('; ')}`);
  }
}

async function readPlanes(path: string, { width, height }: Size): Promise<Uint8Array> {
  const image = await openImage(pathToFileURL(path).href);
  try {
    if (image.width !== width || image.height !== height) throw new Error(`${path} has another size`);
    const bytes = new Uint8Array(3 * width * height);
    const target = { bytes, offset: 0, stride: width, channels: 'rgb', planeBytes: width * height } as const;
    await image.decode({ x: 0, y: 0, width, height }, target);
    return bytes;
  } finally {
    await image.close();
  }
}

/** Interleaved 8-bit RGB of every value in no order, the same for the same size and index (1, 2, …). */
export function randomImage({ width, height }: Size, index: number): Uint8Array {
  // The factor makes seeds of neighbouring indices differ much.
  return randomBytes(width * height * 3, Math.imul(index, 0x9e3779b9) | 1);
}

/** Types of TIFF values. */
const short = 3;
const long = 4;

/** Interleaved 8-bit RGB as a little-endian TIFF of one uncompressed strip. */
function uncompressedTiff({ width, height }: Size, rgb: Uint8Array): Buffer {
  const entries: [tag: number, type: number, count: number, value: number][] = [
    [256, long, 1, width],
    [257, long, 1, height],
    [258, short, 3, 0], // bits a sample: where they are, filled in below
    [259, short, 1, 1], // no compression
    [262, short, 1, 2], // RGB
    [273, long, 1, 0], // where the pixels are, filled in below
    [277, short, 1, 3], // samples a pixel
    [278, long, 1, height], // rows a strip
    [279, long, 1, rgb.length],
  ];
  const directoryAt = 8;
  const bitsAt = directoryAt + 2 + entries.length * 12 + 4;
  const pixelsAt = bitsAt + 6;
  entries[2]![3] = bitsAt;
  entries[5]![3] = pixelsAt;

  const file = Buffer.alloc(pixelsAt + rgb.length);
  file.write('II*\0', 'latin1');
  file.writeUInt32LE(directoryAt, 4);
  file.writeUInt16LE(entries.length, directoryAt);
  entries.forEach(([tag, type, count, value], i) => {
    const at = directoryAt + 2 + i * 12;
    file.writeUInt16LE(tag, at);
    file.writeUInt16LE(type, at + 2);
    file.writeUInt32LE(count, at + 4);
    file.writeUInt32LE(value, at + 8);
  });
  for (let i = 0; i < 3; i++) file.writeUInt16LE(8, bitsAt + 2 * i);
  file.set(rgb, pixelsAt);
  return file;
}
