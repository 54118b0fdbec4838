import { type BitPlane, createBitPlane, type PixelType, type Size, sampleBytes, setBit } from '@halogrid/geometry';
import type { CopyRect } from '@halogrid/kernels';
import { InputError, redactUri } from '@halogrid/sources';
import type { TilePlan } from './compute-tiles.ts';
import { nearestPixel, nearestRows } from './nearest-pixels.ts';
import { closeImage, openSource } from './open-source.ts';
import type { ShardRun } from './shard-run.ts';
import { type Fill, withSharedImage } from './tile-pixels.ts';
import type { LeasedSource } from './unpack-lease.ts';

/**
 * The pixels of a plan's stored plane that are 0 in the mask of a source. If a level is read, the mask may have the
 * size of the largest level instead: then the pixel counts at the centre. Rejects with InputError if the mask is
 * damaged or has another size. If it cannot be read here, or has changed, it rejects with a plain error: the shard is
 * tried elsewhere.
 */
export async function readMask(
  run: ShardRun,
  source: LeasedSource,
  { uri: ofMask, version }: NonNullable<LeasedSource['mask']>,
  plan: TilePlan,
): Promise<BitPlane> {
  const { read } = run.job;
  const asImage = {
    ...run,
    job: { ...run.job, channels: 'gray' as const, planes: 1, read: undefined, noData: 'none' },
  };
  const maskOf: NonNullable<LeasedSource['maskOf']> = { uri: source.uri };
  const mask = { index: source.index, uri: ofMask, sizeBytes: 0, version, maskOf };
  try {
    let { size } = plan;
    const its = read?.level ? await sizeOf(asImage, mask) : size;
    if (!isSame(its, size)) {
      maskOf.full = await sizeOf({ ...run, job: { ...run.job, read: { ...read!, level: undefined } } }, source);
      if (isSame(its, maskOf.full)) size = its;
    }
    const rows = Math.ceil((plan.rect.height * size.height) / plan.size.height);
    const zeros = (pixel: PixelType, _: boolean, fill: Fill): Promise<BitPlane> => zerosOf(pixel, fill, size, plan);
    return (await withSharedImage(asImage, mask, size, rows, zeros)).results;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { stage, message, fault } = error;
    const sentence = `The mask '${redactUri(ofMask)}' cannot be used: ${message}`;
    throw fault === 'content' ? new InputError(stage, sentence) : new Error(sentence);
  }
}

const isSame = (one: Size, other: Size): boolean => one.width === other.width && one.height === other.height;

async function sizeOf(run: ShardRun, source: LeasedSource): Promise<Size> {
  const image = await run.turn.clock.time('read', () => openSource(run, source));
  const { width, height } = image;
  await closeImage(run.turn, image);
  return { width, height };
}

/** The pixels of the stored plane that are 0 in a mask of that size. */
async function zerosOf(
  pixel: PixelType,
  fill: Fill,
  size: Size,
  { size: ofImage, ...plan }: TilePlan,
): Promise<BitPlane> {
  const plane = createBitPlane(plan.stored);
  const column = (x: number): number => nearestPixel(x, ofImage.width, size.width);
  const row = (y: number): number => nearestPixel(y, ofImage.height, size.height);
  for (const copy of plan.copies) {
    for (const { from, to } of nearestRows(copy, ofImage, size)) {
      const [x, y] = [column(from.x), row(from.y)];
      const width = column(from.x + from.width - 1) + 1 - x;
      const height = row(from.y + from.height - 1) + 1 - y;
      const pixels = await readPixels(pixel, fill, { from: { x, y, width, height }, to: { x: 0, y: 0 } });
      for (let down = 0; down < from.height; down++) {
        const at = (row(from.y + down) - y) * width - x;
        for (let across = 0; across < from.width; across++) {
          if (pixels[at + column(from.x + across)] === 0) setBit(plane, to.x + across, to.y + down);
        }
      }
    }
  }
  return plane;
}

async function readPixels(pixel: PixelType, fill: Fill, copy: CopyRect): Promise<Uint8Array | Uint16Array> {
  const { width, height } = copy.from;
  const stride = width * sampleBytes[pixel];
  const bytes = new Uint8Array(stride * height);
  const plan = { stored: { width, height }, copies: [copy] };
  await fill(bytes, plan, { offset: 0, stride, planeBytes: bytes.length, items: [] });
  return pixel === 'u8' ? bytes : new Uint16Array(bytes.buffer);
}
