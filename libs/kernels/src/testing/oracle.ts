// Results of other programs, for tests: see oracle/README.md.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isThorough } from '@halogrid/testing';
import sharp from 'sharp';
import { runCpu } from '../cpu.ts';
import { runReference } from '../reference.ts';
import type { TestImage } from './noise.ts';

const folder = fileURLToPath(new URL('../../oracle', import.meta.url));
/** The smallest image. */
const quickImage = 'coins.png';

export interface OracleImage {
  name: string;
  gray: { sha256: string };
}

/** Every image with its expected results, whose lists oracle/generate.py describes. */
export function readOracle<Results>(): (OracleImage & Results)[] {
  return readdirSync(join(folder, 'expected')).map((file) => {
    const expected = JSON.parse(readFileSync(join(folder, 'expected', file), 'utf8'));
    return { ...expected, name: expected.image };
  });
}

/**
 * The programs that compute every case of an image. Only the smallest image also runs the reference; other tests
 * compare everything with the reference on random images.
 */
export const oracleRuns = ({ name }: OracleImage): Record<string, typeof runReference> =>
  name === quickImage ? { reference: runReference, cpu: runCpu } : { cpu: runCpu };

/** Why an image's cases are skipped, or false. Unless tests are thorough, one image is enough. */
export function whyLeftOut({ name }: OracleImage): string | false {
  return !isThorough && name !== quickImage && 'HALOGRID_THOROUGH=1 computes every image';
}

/** The luma plane that the results were computed from. */
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
