import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Size } from '@halogrid/geometry';
import { openImage } from '@halogrid/imaging';

/** One of the test images of libs/kernels. */
const file = new URL('../../../libs/kernels/oracle/images/camera.png', import.meta.url);

/**
 * The gray pixels of a photograph, reflected at its edges as often as a size needs.
 */
export async function photograph(size: Size): Promise<Uint8Array> {
  const image = await openImage(file.href);
  try {
    const { width, height } = image;
    const pixels = new Uint8Array(width * height);
    const target = { bytes: pixels, offset: 0, stride: width, channels: 'gray', planeBytes: width * height } as const;
    await image.decode({ x: 0, y: 0, width, height }, target);
    const reflected = new Uint8Array(size.width * size.height);
    for (let y = 0, at = 0; y < size.height; y++) {
      const row = reflect(y, height) * width;
      for (let x = 0; x < size.width; x++) reflected[at++] = pixels[row + reflect(x, width)]!;
    }
    return reflected;
  } finally {
    await image.close();
  }
}

function reflect(at: number, length: number): number {
  const within = at % (2 * length);
  return within < length ? within : 2 * length - 1 - within;
}

/** Writes the photograph into a folder for the CUDA programs, as binary PGM. Resolves with its path. */
export async function writePhotograph(folder: string, size: Size): Promise<string> {
  const path = join(folder, `photograph-${size.width}x${size.height}.pgm`);
  await writeFile(path, [`P5\n${size.width} ${size.height}\n255\n`, await photograph(size)]);
  return path;
}
