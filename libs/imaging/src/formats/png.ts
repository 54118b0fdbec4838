import { InputError, type InputFile } from '@halogrid/sources';
import type { OpenImage } from '../open-image.ts';
import { checkHasPixels, checkWholePixels } from '../pixel-limit.ts';
import { openWholeImage } from './whole-image.ts';

/** Takes `file` over. An animated PNG is its first frame. */
export async function openPng(file: InputFile, maxWholePixels: number): Promise<OpenImage> {
  // The header is read here, not by libpng, so that the sentence is the right one even where nothing follows it.
  const { head } = file;
  if (head.length < 29 || head.toString('latin1', 12, 16) !== 'IHDR') {
    throw new InputError('decode', 'The PNG has no header: it is cut off or damaged');
  }
  const [width, height] = [head.readUInt32BE(16), head.readUInt32BE(20)];
  checkHasPixels(width, height);
  // Its last rows come last only where it is not interlaced, so that it has to be held.
  if (head[28] === 1) checkWholePixels(width, height, maxWholePixels);
  return openWholeImage(file, 'png', maxWholePixels);
}
