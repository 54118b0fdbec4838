// Results of other programs, for tests.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import type { TestImage } from './testing.ts';

// Beside the checkout.
const folder = fileURLToPath(new URL('../../../../shared/oracle', import.meta.url));

/** Why there are no results to compare with, or false. */
export const noOracle = existsSync(folder) ? false : `there is no folder ${folder} with images and expected results`;

export interface OracleImage {
  name: string;
  gray: { sha256: string };
}

/** Every image with its expected results, whose lists oracle/generate.py describes. */
export function readOracle<Results>(): (OracleImage & Results)[] {
  if (noOracle) return [];
  return readdirSync(join(folder, 'expected')).map((file) => {
    const expected = JSON.parse(readFileSync(join(folder, 'expected', file), 'utf8'));
    return { ...expected, name: expected.image };
  });
}

/** The luma plane that the results were made of. */
export async function readGray({ name }: OracleImage): Promise<TestImage> {
  const { data, info } = await sharp(join(folder, 'images', name))
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const pixels = Uint8Array.from({ length: width * height }, (_, i) => {
    const [red, green, blue] = [0, 1, 2].map((c) => data[i * channels + Math.min(c, channels - 1)]!);
    return (19595 * red! + 38470 * green! + 7471 * blue! + 32768) >> 16;
  });
  return { width, height, pixels };
}

export const sha256 = (samples: ArrayBufferView): string =>
  createHash('sha256')
    .update(samples as Uint8Array)
    .digest('hex');
