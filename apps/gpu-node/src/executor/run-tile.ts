import { type PixelType, type Size, sampleBytes } from '@halogrid/geometry';
import type { OpenImage } from '@halogrid/imaging';
import type { CopyRect, ItemResult, SharedItem } from '@halogrid/kernels';
import type { Tile } from '@halogrid/proto';
import { changedInput, InputError } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import { BandInDoubt, type JpegBands } from './jpeg-bands.ts';
import type { DecodedPlanes, ImageContent } from './plane-cache.ts';
import {
  closeImage,
  emptyBatch,
  failedOutcome,
  needsMap,
  needsPreview,
  planTile,
  runOnDevice,
  type ShardRun,
  type SourceOutcome,
  samplingsOf,
  settleAll,
  sourceError,
  sourceOutcome,
  tooSmall,
  writeChunks,
  writeSourceChunk,
} from './shard-run.ts';
import { checkStillVersion, checkVersion, sourceVersion } from './source-version.ts';
import { bandsOfSource, copyFromBands } from './tile-of-bands.ts';
import { type TiledCopy, tiledCopy } from './tiled-copy.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** Copies those parts of the image to their places in staging memory. */
type Fill = (bytes: Uint8Array, copies: readonly CopyRect[], item: SharedItem) => Promise<void>;

/** What each pipeline found of a tile. `release` gives back the memory of its dense results. */
interface TileResults {
  items: ItemResult[];
  release(): void;
}

/** Computes the tile of an image of that type of pixels, by each pipeline. */
type Compute = (pixel: PixelType, fill: Fill) => Promise<TileResults>;

/** The same, with the time when the image was captured and what was removed from its file. */
interface Computed extends TileResults {
  captured: CaptureTime | undefined;
  mended?: string | undefined;
}

/** Computes one tile. */
export async function runTile(
  run: ShardRun,
  source: LeasedSource | undefined,
  { width, height, rect }: Tile,
): Promise<SourceOutcome> {
  if (!source || !rect) throw new Error('The lease has a tile without a source or a rectangle');
  const size = { width, height };
  const small = tooSmall(size, run);
  if (small) return sourceError(source, 'read', small);
  const plan = planTile(run, rect, size);
  const compute: Compute = async (pixel, fill) => {
    const batch = emptyBatch(run, pixel, { share: 1 });
    const item = batch.add(plan, needsMap(run, source), samplingsOf(run, rect, size));
    if (!item) {
      const limit = `the device takes at once (${run.device.maxStagingBytes} bytes)`;
      throw new Error(`A tile of ${rect.width} x ${rect.height} pixels and its results are more than ${limit}`);
    }
    const fillTile = async (bytes: Uint8Array): Promise<SharedItem[]> => {
      await fill(bytes, plan.copies, item);
      await writeSourceChunk(run, source, { size, rect, pixel }, bytes, item);
      return [item];
    };
    const { items, release } = await runOnDevice(run, batch, fillTile, needsPreview(source));
    return { items: items[0]!, release };
  };
  const isWhole = rect.width === width && rect.height === height;
  try {
    const { items, captured, mended, release } = isWhole
      ? await withOpenImage(run, source, size, compute)
      : await withSharedImage(run, source, size, rect.height, compute);
    await run.clock.time('encode', () => writeChunks(run, source, size, rect, items)).finally(release);
    return sourceOutcome(source, size, rect, items, captured, mended);
  } catch (error) {
    return await failedOutcome(source, error);
  }
}

/** Uses an image that other tiles need too, of which this one has so many rows. */
async function withSharedImage(
  run: ShardRun,
  source: LeasedSource,
  size: Size,
  rows: number,
  compute: Compute,
): Promise<Computed> {
  const version = source.version ?? (await run.clock.time('read', () => sourceVersion(source.uri)));
  const bands = await run.clock.time('read', () => bandsOfSource(run, source, version, size, rows));
  return (
    (bands && (await withBands(run, source, version, bands, compute))) ??
    (await withUndividedImage(run, source, version, size, compute))
  );
}

/** Decodes those rows of a JPEG that the tile needs. Undefined where some are in doubt. */
async function withBands(
  run: ShardRun,
  source: LeasedSource,
  version: string,
  bands: JpegBands,
  compute: Compute,
): Promise<Computed | undefined> {
  try {
    const results = await compute('u8', async (bytes, copies, item) => {
      await run.clock.time('decode', () =>
        copyFromBands(run, bands, `${run.channels} ${source.uri} ${version}`, copies, (planes, own) =>
          copyPlanes(run, planes, bytes, own, item),
        ),
      );
      await checkStillVersion(source);
    });
    return { ...results, captured: bands.index.captured };
  } catch (error) {
    if (error instanceof BandInDoubt) return undefined;
    throw error;
  }
}

/** Uses an image by region where it or a copy can be read so, from the cache where not. */
async function withUndividedImage(
  run: ShardRun,
  source: LeasedSource,
  version: string,
  size: Size,
  compute: Compute,
): Promise<Computed> {
  const { content, release } = await run.planes.borrow(`${run.channels} ${source.uri} ${version}`, (reserve) =>
    loadImage(run, source, reserve),
  );
  try {
    switch (content.kind) {
      case 'regions':
        return await withOpenImage(run, source, size, compute);
      case 'large': {
        const { uri, mended } = await copyOf(run, source, version);
        const copy = { ...source, version: undefined, uri };
        return { ...(await withOpenImage(run, copy, size, compute)), captured: content.captured, mended };
      }
      case 'broken':
        throw content.error;
      case 'planes':
        checkSize(content, size);
        return {
          ...(await compute(content.pixel, async (bytes, copies, item) =>
            copyPlanes(run, content, bytes, copies, item),
          )),
          captured: content.captured,
          mended: content.mended,
        };
    }
  } finally {
    release();
  }
}

/** Decodes the planned regions straight into staging memory. */
async function withOpenImage(run: ShardRun, source: LeasedSource, size: Size, compute: Compute): Promise<Computed> {
  const image = await run.clock.time('read', () => run.openImage(source.uri));
  try {
    checkVersion(image.version, source.version);
    checkSize(image, size);
    const { channels, meters } = run;
    const unit = sampleBytes[image.pixel];
    const results = await compute(image.pixel, async (bytes, copies, { offset, stride, planeBytes }) => {
      await run.clock.time('decode', () =>
        settleAll(
          copies.map(({ from, to }) => {
            const at = offset + to.y * stride + to.x * unit;
            return meters.decode.during(() => image.decode(from, { bytes, offset: at, stride, channels, planeBytes }));
          }),
        ),
      );
      await checkStillVersion(source);
    });
    return { ...results, captured: image.captured, mended: image.mended };
  } finally {
    await closeImage(run, image);
  }
}

/** A copy that is read by region. It is made here if it does not exist. */
async function copyOf(run: ShardRun, source: LeasedSource, version: string): Promise<TiledCopy> {
  const write = async (path: string): Promise<string | undefined> => {
    const image = await run.openImage(source.uri);
    try {
      checkVersion(image.version, source.version);
      if (!image.copy) throw changedInput('The image changed while it was read');
      await image.copy.write(path, run.channels);
      await checkStillVersion(source);
      return image.mended;
    } finally {
      await closeImage(run, image);
    }
  };
  return await run.clock.time('decode', () => tiledCopy(run.scratch, source.index, version, write));
}

async function loadImage(
  run: ShardRun,
  source: LeasedSource,
  reserve: (bytes: number) => Promise<void>,
): Promise<ImageContent> {
  let image: OpenImage | undefined;
  try {
    image = await run.clock.time('read', () => run.openImage(source.uri));
    checkVersion(image.version, source.version);
    if (image.readsRegions) return { kind: 'regions' };
    const { captured } = image;
    if (image.copy) return { kind: 'large', ...(captured && { captured }) };
    const { width, height, pixel } = image;
    const stride = width * sampleBytes[pixel];
    const planeBytes = stride * height;
    const allBytes = planeBytes * channelsOf(run);
    await reserve(allBytes);
    const bytes = new Uint8Array(allBytes);
    const opened = image;
    await run.clock.time('decode', () => {
      const to = { bytes, offset: 0, stride, channels: run.channels, planeBytes };
      return run.meters.decode.during(() => opened.decode({ x: 0, y: 0, width, height }, to));
    });
    await checkStillVersion(source);
    const { mended } = image;
    return { kind: 'planes', width, height, pixel, bytes, ...(captured && { captured }), ...(mended && { mended }) };
  } catch (error) {
    if (error instanceof InputError && error.fault === 'content') return { kind: 'broken', error };
    throw error;
  } finally {
    if (image) await closeImage(run, image);
  }
}

function checkSize(now: Size, planned: Size): void {
  if (now.width === planned.width && now.height === planned.height) return;
  throw changedInput(
    `The image is ${now.width} x ${now.height} now and was ${planned.width} x ${planned.height} when the job was planned`,
  );
}

const channelsOf = ({ pipelines }: ShardRun): number => pipelines[0]!.pipeline.input.length;

/** Copies parts of an image's planes, whose rows have no gaps. */
function copyPlanes(
  run: ShardRun,
  { width, height, pixel, bytes: pixels }: DecodedPlanes,
  bytes: Uint8Array,
  copies: readonly CopyRect[],
  { offset, stride, planeBytes }: SharedItem,
): void {
  const unit = sampleBytes[pixel];
  for (let plane = 0; plane < channelsOf(run); plane++) {
    for (const { from, to } of copies) {
      for (let row = 0; row < from.height; row++) {
        const at = ((plane * height + from.y + row) * width + from.x) * unit;
        const target = offset + plane * planeBytes + (to.y + row) * stride + to.x * unit;
        bytes.set(pixels.subarray(at, at + from.width * unit), target);
      }
    }
  }
}
