import { link, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Size } from '@halogrid/geometry';
import { writeJpeg } from '@halogrid/results';
import type { Scene } from './scene.ts';

/** Different frames. Further frames are links to these, so that a long archive takes little disk. */
const distinctFrames = 32;

/** JPEGs of a quality from 1 to 100, or gray pixels that need no decoding. */
export interface FrameFormat {
  kind: 'jpg' | 'pgm';
  quality: number;
}

/** Makes `folder` with `count` frames of a scene. Resolves with the files of the different frames. */
export async function makeFrames(
  folder: string,
  count: number,
  size: Size,
  format: FrameFormat,
  scene: Scene,
): Promise<Buffer[]> {
  await mkdir(folder);
  const pathOf = (index: number) => join(folder, `${String(index).padStart(6, '0')}.${format.kind}`);
  const drawn = Math.min(count, distinctFrames);
  for (let i = 0; i < drawn; i++) {
    const rgb = scene(i);
    if (format.kind === 'jpg') await writeJpeg(pathOf(i), size, rgb, format.quality);
    else await writeFile(pathOf(i), pgm(size, rgb));
  }
  for (let i = drawn; i < count; i++) await link(pathOf(i % drawn), pathOf(i));
  return Promise.all(Array.from({ length: drawn }, (_, i) => readFile(pathOf(i))));
}

/** The green channel as a gray picture. */
function pgm({ width, height }: Size, rgb: Uint8Array): Uint8Array {
  const header = Buffer.from(`P5\n${width} ${height}\n255\n`);
  const file = new Uint8Array(header.length + width * height);
  file.set(header);
  for (let i = 0; i < width * height; i++) file[header.length + i] = rgb[3 * i + 1]!;
  return file;
}
