import { writeFile } from 'node:fs/promises';
import type { Picture } from './lbp-definition.ts';

/** A picture with slopes, edges, plateaus and noise; the same arguments give the same picture. */
export function drawPicture(width: number, height: number, seed = 1): Picture {
  const pixels = new Uint8Array(width * height);
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      // A linear congruential generator with the constants of Numerical Recipes.
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      const plateau = ((x >> 4) ^ (y >> 3)) & 1 ? 90 : 0;
      pixels[y * width + x] = (plateau + ((x * 3 + y * 2) & 127) + (state >>> 28)) & 255;
    }
  }
  return { width, height, pixels };
}

/** Writes a binary PGM. */
export async function writePgm(path: string, { width, height, pixels }: Picture): Promise<void> {
  await writeFile(path, Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]));
}
