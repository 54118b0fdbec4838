import { type PixelType, type Size, sampleBytes } from '@halogrid/geometry';
import { type OpenImage, planesOf, readName } from '@halogrid/imaging';
import type { CopyRect, SharedItem } from '@halogrid/kernels';
import { changedInput, InputError } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import { settleAll } from '@halogrid/threads';
import { BandInDoubt, type JpegBands } from './jpeg-bands.ts';
import { closeImage, decodeRegion, openSource } from './open-source.ts';
import { copyPlanes, type ImageContent, type Reserve } from './plane-cache.ts';
import type { ShardRun } from './shard-run.ts';
import { checkStillVersion, sourceVersion } from './source-version.ts';
import type { BatchResults } from './staging.ts';
import { bandsOfSource, copyFromBands } from './tile-of-bands.ts';
import { type TiledCopy, tiledCopy } from './tiled-copy.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** Copies these parts of the image to their places in staging memory. */
export type Fill = (bytes: Uint8Array, copies: readonly CopyRect[], item: SharedItem) => Promise<void>;

/** Computes a tile of an image with pixels of that type, which `fill` copies. */
type Compute = (pixel: PixelType, fill: Fill) => Promise<BatchResults>;

/** The results of a tile, the capture time of the image, and a sentence about bytes removed from its file. */
interface ComputedTile {
  results: BatchResults;
  captured: CaptureTime | undefined;
  mended?: string | undefined;
}

/** Uses an image that other tiles need too; this tile needs `rows` of its rows. */
export async function withSharedImage(
  run: ShardRun,
  source: LeasedSource,
  size: Size,
  rows: number,
  compute: Compute,
): Promise<ComputedTile> {
  const version = source.version ?? (await run.turn.clock.time('read', () => sourceVersion(source.uri)));
  const bands = await run.turn.clock.time('read', () => bandsOfSource(run, source, version, size, rows));
  return (
    (bands && (await withBands(run, source, version, bands, compute))) ??
    (await withUndividedImage(run, source, version, size, compute))
  );
}

/** Decodes only the rows of a JPEG that the tile needs. Undefined if some are in doubt. */
async function withBands(
  run: ShardRun,
  source: LeasedSource,
  version: string,
  bands: JpegBands,
  compute: Compute,
): Promise<ComputedTile | undefined> {
  try {
    const results = await compute('u8', async (bytes, copies, item) => {
      await run.turn.clock.time('decode', () =>
        copyFromBands(run, bands, `${run.job.channels} ${source.uri} ${version}`, copies, (planes, own) =>
          copyPlanes(planes, bytes, own, item),
        ),
      );
      await checkStillVersion(source);
    });
    return { results, captured: bands.index.captured };
  } catch (error) {
    if (error instanceof BandInDoubt) return undefined;
    throw error;
  }
}

/** Uses an image by region if it or a copy can be read so, and from the cache if not. */
async function withUndividedImage(
  run: ShardRun,
  source: LeasedSource,
  version: string,
  size: Size,
  compute: Compute,
): Promise<ComputedTile> {
  const { content, release } = await run.means.planes.borrow(
    `${run.job.channels} ${run.job.read ? `${readName(run.job.read)} ` : ''}${source.uri} ${version}`,
    (reserve) => loadImage(run, source, reserve),
  );
  try {
    switch (content.kind) {
      case 'regions':
        return await withOpenImage(run, source, size, compute);
      case 'large': {
        const { uri, mended } = await copyOf(run, source, version);
        const copy = { ...source, version: undefined, uri };
        // The copy has the pixels that the job reads.
        const ofCopy = { ...run, job: { ...run.job, read: undefined } };
        return { ...(await withOpenImage(ofCopy, copy, size, compute)), captured: content.captured, mended };
      }
      case 'broken':
        throw content.error;
      case 'planes':
        checkSize(content, size);
        return {
          results: await compute(content.pixel, async (...places) => copyPlanes(content, ...places)),
          captured: content.captured,
          mended: content.mended,
        };
    }
  } finally {
    release();
  }
}

/** Decodes the planned regions straight into staging memory. */
export async function withOpenImage(
  run: ShardRun,
  source: LeasedSource,
  size: Size,
  compute: Compute,
): Promise<ComputedTile> {
  const { clock } = run.turn;
  const image = await clock.time('read', () => openSource(run, source));
  try {
    checkSize(image, size);
    const unit = sampleBytes[image.pixel];
    const results = await compute(image.pixel, async (bytes, copies, { offset, stride, planeBytes }) => {
      const decode = ({ from, to }: CopyRect): Promise<void> => {
        const at = offset + to.y * stride + to.x * unit;
        return decodeRegion(run, image, from, { bytes, offset: at, stride, planeBytes });
      };
      await clock.time('decode', () => settleAll(copies.map(decode)));
      await checkStillVersion(source);
    });
    return { results, captured: image.captured, mended: image.mended };
  } finally {
    await closeImage(run.turn, image);
  }
}

/** A copy that is read by region. It is made here if it does not exist. */
async function copyOf(run: ShardRun, source: LeasedSource, version: string): Promise<TiledCopy> {
  const write = async (path: string): Promise<string | undefined> => {
    const image = await openSource(run, source);
    try {
      if (!image.copy) throw changedInput('The image changed while it was read');
      await image.copy.write(path, run.job.channels);
      await checkStillVersion(source);
      return image.mended;
    } finally {
      await closeImage(run.turn, image);
    }
  };
  return await run.turn.clock.time('decode', () => tiledCopy(run.job.scratch, source.index, version, write));
}

async function loadImage(run: ShardRun, source: LeasedSource, reserve: Reserve): Promise<ImageContent> {
  const { turn } = run;
  try {
    const image = await turn.clock.time('read', () => openSource(run, source));
    return await contentOf(run, source, image, reserve).finally(() => closeImage(turn, image));
  } catch (error) {
    if (error instanceof InputError && error.fault === 'content') return { kind: 'broken', error };
    throw error;
  }
}

async function contentOf(
  run: ShardRun,
  source: LeasedSource,
  image: OpenImage,
  reserve: Reserve,
): Promise<ImageContent> {
  if (image.readsRegions) return { kind: 'regions' };
  const { captured } = image;
  if (image.copy) return { kind: 'large', captured };
  const { width, height, pixel } = image;
  const stride = width * sampleBytes[pixel];
  const planeBytes = stride * height;
  const allBytes = planeBytes * planesOf(run.job.channels);
  await reserve(allBytes);
  const bytes = new Uint8Array(allBytes);
  const to = { bytes, offset: 0, stride, planeBytes };
  await run.turn.clock.time('decode', () => decodeRegion(run, image, { x: 0, y: 0, width, height }, to));
  await checkStillVersion(source);
  const { mended } = image;
  return { kind: 'planes', width, height, pixel, bytes, captured, mended };
}

function checkSize(now: Size, planned: Size): void {
  if (now.width === planned.width && now.height === planned.height) return;
  throw changedInput(
    `The image is ${now.width} x ${now.height} now and was ${planned.width} x ${planned.height} when the job was planned`,
  );
}
