import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openImage, type Size, writeFileAtomically } from '@halogrid/imaging';
import { makeFolders } from '@halogrid/service';
import { randomImage } from './random-image.ts';
import { uncompressedTiff } from './uncompressed-tiff.ts';

/** Random images that are made once and kept as files. */
export class ImageCache {
  readonly #roots: readonly string[];

  /** The files lie in the first of `roots` that can be written. */
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
