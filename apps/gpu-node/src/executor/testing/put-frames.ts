import type { Size } from '@halogrid/geometry';
import type { TestImage } from '@halogrid/kernels/testing';
import { patternImage, type TestFolder } from './shard-fixture.ts';

export const sizes: Size[] = [
  { width: 64, height: 48 },
  { width: 1, height: 1 },
  { width: 33, height: 7 },
  { width: 200, height: 3 },
];

/** Writes frames of these sizes as files; returns the URIs and the pixels. */
export async function putFrames(folder: TestFolder): Promise<{ uris: string[]; frames: TestImage[] }> {
  const patterns = sizes.map((size, seed) => patternImage(size, seed));
  const uris = await Promise.all(patterns.map(({ file }, i) => folder.put(`${i}.pgm`, file)));
  return { uris, frames: patterns.map(({ image }) => image) };
}
