import { type BitPlane, createBitPlane, type PixelType, sampleBytes, setBit } from '@halogrid/geometry';
import { InputError, redactUri } from '@halogrid/sources';
import type { TilePlan } from './compute-tiles.ts';
import type { ShardRun } from './shard-run.ts';
import { type Fill, withSharedImage } from './tile-pixels.ts';
import type { LeasedSource } from './unpack-lease.ts';

/**
 * The pixels of a plan's stored plane that are 0 in the mask of a source. Rejects with InputError if the mask is
 * damaged or has another size. If it cannot be read here, or has changed, it rejects with a plain error: the shard is
 * tried elsewhere.
 */
export async function readMask(
  run: ShardRun,
  { index, uri }: LeasedSource,
  { uri: ofMask, version }: NonNullable<LeasedSource['mask']>,
  plan: TilePlan,
): Promise<BitPlane> {
  const asImage = {
    ...run,
    job: { ...run.job, channels: 'gray' as const, planes: 1, read: undefined, noData: 'none' },
  };
  const mask = { index, uri: ofMask, sizeBytes: 0, version, maskOf: uri };
  const zeros = async (pixel: PixelType, _: boolean, fill: Fill): Promise<BitPlane> => {
    const { width, height } = plan.stored;
    const stride = width * sampleBytes[pixel];
    const bytes = new Uint8Array(stride * height);
    await fill(bytes, plan, { offset: 0, stride, planeBytes: bytes.length, items: [] });
    const pixels = pixel === 'u8' ? bytes : new Uint16Array(bytes.buffer);
    const plane = createBitPlane(plan.stored);
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at++) if (pixels[at] === 0) setBit(plane, x, y);
    }
    return plane;
  };
  try {
    return (await withSharedImage(asImage, mask, plan.size, plan.rect.height, zeros)).results;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { stage, message, fault } = error;
    const sentence = `The mask '${redactUri(ofMask)}' cannot be used: ${message}`;
    throw fault === 'content' ? new InputError(stage, sentence) : new Error(sentence);
  }
}
