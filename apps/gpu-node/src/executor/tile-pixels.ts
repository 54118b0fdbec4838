import { type BitPlane, type PixelType, type Size, sampleBytes } from '@halogrid/geometry';
import { markPlanes, type OpenImage, type Place, planesFrom, readName } from '@halogrid/imaging';
import type { CopyRect, SharedItem, SharedPlan } from '@halogrid/kernels';
import { namesNoData } from '@halogrid/proto/no-data';
import { changedInput, InputError, redactUri } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import { settleAll } from '@halogrid/threads';
import { BandInDoubt, type JpegBands } from './jpeg-bands.ts';
import { noDataOf, noDataPlanes } from './no-data-of.ts';
import { closeImage, decodeRegion, openSource, remarksOn } from './open-source.ts';
import { copyBits, copyPlanes, type ImageContent, type Reserve } from './plane-cache.ts';
import type { ShardRun } from './shard-run.ts';
import { checkStillVersion, sourceVersion } from './source-version.ts';
import { bandsOfSource, copyFromBands } from './tile-of-bands.ts';
import { type TiledCopy, tiledCopy } from './tiled-copy.ts';
import type { LeasedSource } from './unpack-lease.ts';

/**
 * Copies the parts of the image that a plan needs to their places in staging memory. Resolves with the pixels of the
 * stored plane that have no value, if the image may have some: of each band, if several are read.
 */
export type Fill = (
  bytes: Uint8Array,
  plan: Pick<SharedPlan, 'stored' | 'copies'>,
  item: SharedItem,
) => Promise<readonly BitPlane[] | undefined>;

/** Computes a tile of an image with pixels of that type, which `fill` copies; some may have no value. */
type Compute<Results> = (pixel: PixelType, mayExclude: boolean, fill: Fill) => Promise<Results>;

/** The results of a tile, the capture time and place of the image, and a sentence about bytes removed from its file. */
interface ComputedTile<Results> {
  results: Results;
  captured: CaptureTime | undefined;
  place?: Place | undefined;
  mended?: string | undefined;
}

/** Uses an image that other tiles need too; this tile needs `rows` of its rows. */
export async function withSharedImage<Results>(
  run: ShardRun,
  source: LeasedSource,
  size: Size,
  rows: number,
  compute: Compute<Results>,
): Promise<ComputedTile<Results>> {
  const version = source.version ?? (await run.turn.clock.time('read', () => sourceVersion(source.uri)));
  // Bands are decoded to gray alone, without the pixels that have no value.
  const bands = namesNoData(run.job.noData)
    ? undefined
    : await run.turn.clock.time('read', () => bandsOfSource(run, source, version, size, rows));
  return (
    (bands && (await withBands(run, source, version, bands, compute))) ??
    (await withUndividedImage(run, source, version, size, compute))
  );
}

/** Decodes only the rows of a JPEG that the tile needs. Undefined if some are in doubt. */
async function withBands<Results>(
  run: ShardRun,
  source: LeasedSource,
  version: string,
  bands: JpegBands,
  compute: Compute<Results>,
): Promise<ComputedTile<Results> | undefined> {
  try {
    const results = await compute('u8', false, async (bytes, { copies }, item) => {
      await run.turn.clock.time('decode', () =>
        copyFromBands(run, bands, `${run.job.channels} ${source.uri} ${version}`, copies, (planes, own) =>
          copyPlanes(planes, bytes, own, item),
        ),
      );
      await checkStillVersion(source);
      return undefined;
    });
    const { captured, mended } = bands.index;
    return { results, captured, mended };
  } catch (error) {
    if (error instanceof BandInDoubt) return undefined;
    throw error;
  }
}

/** Uses an image by region if it or a copy can be read so, and from the cache if not. */
async function withUndividedImage<Results>(
  run: ShardRun,
  source: LeasedSource,
  version: string,
  size: Size,
  compute: Compute<Results>,
): Promise<ComputedTile<Results>> {
  const { channels, read = {}, noData = '' } = run.job;
  const { content, release } = await run.means.planes.borrow(
    `${channels} ${readName(read)} ${noData} ${source.uri} ${version}`,
    (reserve) => loadImage(run, source, reserve),
  );
  try {
    switch (content.kind) {
      case 'regions':
        return await withOpenImage(run, source, size, compute);
      case 'large': {
        const { uri, mended } = await copyOf(run, source, version);
        const copy = { ...source, version: undefined, uri };
        const { captured, place } = content;
        // The copy has the pixels that the job reads.
        const ofCopy = { ...run, job: { ...run.job, read: undefined } };
        return { ...(await withOpenImage(ofCopy, copy, size, compute, content)), captured, place, mended };
      }
      case 'broken':
        throw content.error;
      case 'planes':
        checkSize(source, content, size);
        return {
          results: await compute(content.pixel, content.noData !== undefined, async (bytes, plan, item) => {
            copyPlanes(content, bytes, plan.copies, item);
            return content.noData?.map((plane) => copyBits(plane, plan));
          }),
          captured: content.captured,
          place: content.place,
          // Other jobs use the same planes.
          mended: remarksOn(run, content),
        };
    }
  } finally {
    release();
  }
}

/**
 * Decodes the planned regions straight into staging memory. `copied`: the image is a copy, whose pixels tell which have
 * no value.
 */
export async function withOpenImage<Results>(
  run: ShardRun,
  source: LeasedSource,
  size: Size,
  compute: Compute<Results>,
  copied?: { noData?: number | undefined },
): Promise<ComputedTile<Results>> {
  const { clock } = run.turn;
  const image = await clock.time('read', () => openSource(run, source));
  try {
    // A copy has the planes of several bands one below another.
    const bands = copied && run.job.channels === 'gray' ? run.job.planes : 1;
    checkSize(source, { width: image.width, height: image.height / bands }, size);
    const unit = sampleBytes[image.pixel];
    const value = copied ? copied.noData : noDataOf(run.job, image);
    const fill: Fill = async (bytes, { stored, copies }, { offset, stride, planeBytes }) => {
      const planes = value === undefined ? undefined : noDataPlanes(run.job, stored);
      const decode = async ({ from, to }: CopyRect): Promise<void> => {
        const place = { bytes, offset: offset + to.y * stride + to.x * unit, stride, planeBytes };
        const noData = planes && { value: value!, planes, ...to };
        if (!copied) return await decodeRegion(run, image, from, { ...place, noData });
        for (let band = 0; band < bands; band++) {
          const { noData: own, ...target } = planesFrom({ ...place, channels: run.job.channels, noData }, band);
          await decodeRegion(run, image, { ...from, y: from.y + band * size.height }, target);
          if (own) markPlanes(from, target, image.pixel, own);
        }
      };
      await clock.time('decode', () => settleAll(copies.map(decode)));
      await checkStillVersion(source);
      return planes;
    };
    const results = await compute(image.pixel, value !== undefined, fill);
    const { captured, place } = image;
    return { results, captured, place, mended: remarksOn(run, image) };
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
      return remarksOn(run, image);
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
  const { captured, place } = image;
  const value = noDataOf(run.job, image);
  if (image.copy) {
    if (value === undefined || !image.isConverted) return { kind: 'large', captured, place, noData: value };
    throw new InputError('decode', notCopied(image));
  }
  const { width, height, pixel } = image;
  const stride = width * sampleBytes[pixel];
  const planeBytes = stride * height;
  const allBytes = planeBytes * run.job.planes;
  await reserve(allBytes);
  const bytes = new Uint8Array(allBytes);
  const planes = value === undefined ? undefined : noDataPlanes(run.job, image);
  const noData = planes && { value: value!, planes, x: 0, y: 0 };
  const to = { bytes, offset: 0, stride, planeBytes, noData };
  await run.turn.clock.time('decode', () => decodeRegion(run, image, { x: 0, y: 0, width, height }, to));
  await checkStillVersion(source);
  const { mended } = image;
  return { kind: 'planes', width, height, pixel, bytes, captured, place, mended, noData: planes };
}

/** Why pixels without a value cannot be told. */
const notCopied = ({ width, height }: Size): string =>
  `The TIFF states a value for missing data, its gray is computed from other samples, and its ${width} x ${height} pixels are not in tiles: write it with tiles (gdal_translate -co TILED=YES)`;

function checkSize({ maskOf }: LeasedSource, now: Size, planned: Size): void {
  if (now.width === planned.width && now.height === planned.height) return;
  if (maskOf !== undefined) {
    const [its, wanted, full] = [now, planned, maskOf.full].map((size) => size && `${size.width} x ${size.height}`);
    const orFull = full && full !== wanted ? `, and its largest level ${full}` : '';
    throw new InputError('decode', `it is ${its}, and the image '${redactUri(maskOf.uri)}' is ${wanted}${orFull}`, {
      fault: 'content',
    });
  }
  throw changedInput(
    `The image is ${now.width} x ${now.height} now and was ${planned.width} x ${planned.height} when the job was planned`,
  );
}
