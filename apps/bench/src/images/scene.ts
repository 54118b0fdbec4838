import type { Size } from '@halogrid/geometry';
import { openImage } from '@halogrid/imaging';
import { UsageError } from '@halogrid/service';
import { toFileUri } from '@halogrid/sources';
import { drawScene } from './draw-scene.ts';

/** Draws frame `index` as interleaved 8-bit RGB. */
export type Scene = (index: number) => Uint8Array;

/** The most pixels by which frames of a photograph are moved against each other. */
const travel: Size = { width: 62, height: 31 };

/**
 * Frames of `size` of a synthetic scene, or windows of a photograph, each moved a little as if the camera panned.
 * Rejects with InputError if the file is not an image, and with UsageError if it is too small or has 16-bit samples.
 */
export async function openScene(size: Size, photograph?: string): Promise<Scene> {
  if (photograph === undefined) return (index) => drawScene(size, index);
  const image = await openImage(toFileUri(photograph, process.cwd()));
  try {
    const { width, height, pixel } = image;
    const least = { width: size.width + travel.width, height: size.height + travel.height };
    if (width < least.width || height < least.height || pixel !== 'u8') {
      const found = `${width} x ${height} pixels of ${pixel === 'u8' ? 8 : 16} bits`;
      throw new UsageError(
        `--scene '${photograph}' has ${found}: expected 8 bits and at least ${least.width} x ${least.height}`,
      );
    }
    const planeBytes = width * height;
    const bytes = new Uint8Array(3 * planeBytes);
    const all = { x: 0, y: 0, width, height };
    await image.decode(all, { bytes, offset: 0, stride: width, channels: 'rgb', planeBytes });
    return (index) => windowOf({ bytes, stride: width, planeBytes }, size, index);
  } finally {
    await image.close();
  }
}

interface Photograph {
  bytes: Uint8Array;
  stride: number;
  planeBytes: number;
}

function windowOf({ bytes, stride, planeBytes }: Photograph, { width, height }: Size, index: number): Uint8Array {
  const left = (2 * index) % (travel.width + 1);
  const top = index % (travel.height + 1);
  const rgb = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++) {
    const from = (top + y) * stride + left;
    for (let x = 0; x < width; x++) {
      const to = 3 * (y * width + x);
      for (let c = 0; c < 3; c++) rgb[to + c] = bytes[c * planeBytes + from + x]!;
    }
  }
  return rgb;
}
