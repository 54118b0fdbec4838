import { link, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Size, writeJpeg } from '@halogrid/imaging';
import { drawScene } from './draw-scene.ts';

/** Frames that differ; further ones are links to them, so that a long archive takes little disk. */
const distinctFrames = 32;

/** Fills `folder` with `count` JPEG frames of a synthetic scene and returns the bytes of those that differ. */
export async function makeFrames(folder: string, count: number, size: Size, quality: number): Promise<Buffer[]> {
  await mkdir(folder);
  const pathOf = (index: number) => join(folder, `${String(index).padStart(6, '0')}.jpg`);
  const drawn = Math.min(count, distinctFrames);
  for (let i = 0; i < drawn; i++) await writeJpeg(pathOf(i), size, drawScene(size, i), quality);
  for (let i = drawn; i < count; i++) await link(pathOf(i % drawn), pathOf(i));
  return Promise.all(Array.from({ length: drawn }, (_, i) => readFile(pathOf(i))));
}
