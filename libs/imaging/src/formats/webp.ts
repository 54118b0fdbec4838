import type { InputFile } from '@halogrid/sources';
import type { OpenImage } from '../open-image.ts';
import { openWholeImage } from './whole-image.ts';

/** Takes `file` over. An animation is its first frame. */
export async function openWebp(file: InputFile, maxWholePixels: number): Promise<OpenImage> {
  return openWholeImage(file, 'webp', maxWholePixels);
}
