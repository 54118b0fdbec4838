import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { drawScene } from '@halogrid/bench/draw-scene';
import { makeFrames } from '@halogrid/bench/make-frames';
import { openScene } from '@halogrid/bench/scene';
import sharp from 'sharp';

export const frameSize = { width: 1920, height: 1080 };
export const imageFormats = ['pgm', 'tiff'] as const;
export type ImageFormat = (typeof imageFormats)[number];

/** An input and its amount. */
export interface Input {
  name: string;
  path: string;
  /** Frames, or millions of pixels of an image. */
  amount: number;
  unit: 'Mpx' | 'frames';
}

/** One gray image of the synthetic scene: a binary PGM, or a TIFF in uncompressed tiles of 512 x 512. */
export async function makeImage(folder: string, side: number, format: ImageFormat): Promise<Input> {
  const size = { width: side, height: side };
  const rgb = drawScene(size, 0);
  const gray = new Uint8Array(side * side);
  for (let i = 0; i < gray.length; i++) gray[i] = rgb[3 * i + 1]!;
  const path = join(folder, `scene-${side}.${format === 'pgm' ? 'pgm' : 'tif'}`);
  if (format === 'pgm') {
    await writeFile(path, Buffer.concat([Buffer.from(`P5\n${side} ${side}\n255\n`), gray]));
  } else {
    await sharp(gray, { raw: { ...size, channels: 1 }, limitInputPixels: false })
      .toColourspace('b-w')
      .tiff({ compression: 'none', tile: true, tileWidth: 512, tileHeight: 512 })
      .toFile(path);
  }
  return { name: `${side} x ${side} ${format.toUpperCase()}`, path, amount: side ** 2 / 1e6, unit: 'Mpx' };
}

/**
 * A folder of 1080p JPEG frames of the synthetic scene, or of a photograph. The first 32 differ; the others are links.
 */
export async function makeFrameFolder(
  folder: string,
  count: number,
  quality: number,
  photograph?: string,
): Promise<Input> {
  const path = join(folder, `frames-${count}`);
  await makeFrames(path, count, frameSize, { kind: 'jpg', quality }, await openScene(frameSize, photograph));
  const of = photograph === undefined ? '' : ` of ${basename(photograph)}`;
  return { name: `${count} JPEG frames${of}, quality ${quality}`, path, amount: count, unit: 'frames' };
}

/** Reads every byte once, so that the page cache has them before the first program runs. */
export async function warmPageCache({ path, unit }: Input): Promise<void> {
  const files = unit === 'frames' ? (await readdir(path)).map((name) => join(path, name)) : [path];
  for (const file of files) await readFile(file);
}
