import type { Rect } from '@halogrid/geometry';
import type { OpenImage, PlaneTarget } from '@halogrid/imaging';
import type { Operation } from '@halogrid/kernels';
import type { ShardRun, ShardTurn } from './shard-run.ts';
import { checkVersion } from './source-version.ts';
import type { LeasedSource } from './unpack-lease.ts';

/**
 * Opens the image of a source, to read what the job reads of it. Rejects with InputError for faults of the source, and
 * for a version that is not the planned one.
 */
export async function openSource({ job, means, turn }: ShardRun, { uri, version }: LeasedSource): Promise<OpenImage> {
  const image = await means.openImage(uri, job.read);
  try {
    checkVersion(image.version, version);
    return image;
  } catch (error) {
    await closeImage(turn, image);
    throw error;
  }
}

const cutsSamples = ({ kernel, parameters }: Operation): boolean => kernel === 'conv' && parameters.as === 'u8';

/** What is said of an image that was decoded: what was not read of its file, and results that the first kernel cuts. */
export function remarksOn(
  { job }: ShardRun,
  { mended, pixel }: Pick<OpenImage, 'mended' | 'pixel'>,
): string | undefined {
  const isCut = pixel === 'u16' && job.pipelines.some(({ pipeline }) => cutsSamples(pipeline.operations[0]!));
  const cut =
    isCut && 'as=u8 cut results of 16-bit samples at 255; for TIFF and JPEG 2000, --scale MIN,MAX makes bytes of them';
  return [cut, mended].filter(Boolean).join('; ') || undefined;
}

/** Closes the image and counts the bytes that were read of it. */
export async function closeImage(turn: ShardTurn, image: OpenImage): Promise<void> {
  turn.inputBytes += image.inputBytes;
  await image.close();
}

/** Decodes a region of an image to the channels that the pipelines take, when a thread is free. */
export function decodeRegion(
  { job: { channels }, means: { meters } }: ShardRun,
  image: OpenImage,
  region: Rect,
  { bytes, offset, stride, planeBytes, noData }: Omit<PlaneTarget, 'channels'>,
): Promise<void> {
  return meters.decode.during(() => image.decode(region, { bytes, offset, stride, channels, planeBytes, noData }));
}
