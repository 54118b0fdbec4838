import { InputError, type OpenImage } from '@halogrid/imaging';
import { type PlaneItem, placeItem, planRead, type ReadPlan, type Size } from '@halogrid/kernels';
import type { Source, Tile } from '@halogrid/proto';
import type { ImageContent } from './plane-cache.ts';
import { settleAll } from './settle-all.ts';
import {
  closeImage,
  needsCodes,
  runOnDevice,
  type ShardRun,
  type SourceOutcome,
  sourceError,
  sourceResult,
  writeChunks,
} from './shard-run.ts';
import { sourceVersion } from './source-version.ts';

/** Puts the planned pixels of the image into staging memory. */
type Fill = (bytes: Uint8Array, plan: ReadPlan, item: PlaneItem) => Promise<void>;

/** Computes one tile. */
export async function runTile(run: ShardRun, { source, width, height, rect }: Tile): Promise<SourceOutcome> {
  if (!source || !rect) throw new Error('The lease has a tile without a source or a rectangle');
  const size = { width, height };
  const plan = planRead(rect, size, run.pipeline.halo, run.pipeline.border);
  const { item, end } = placeItem(plan, 0);
  if (end > run.device.maxStagingBytes) {
    const limit = run.device.maxStagingBytes;
    throw new Error(`A tile of ${rect.width} x ${rect.height} needs ${end} bytes; the device takes at most ${limit}`);
  }
  const isWhole = rect.width === width && rect.height === height;
  try {
    const withImage = isWhole ? withOpenImage : withSharedImage;
    const [result] = await withImage(run, source, size, (fill) =>
      runOnDevice(run, end, needsCodes(run, source), async (bytes) => {
        await fill(bytes, plan, item);
        return [item];
      }),
    );
    await run.clock.time('encode', () => writeChunks(run, source, size, rect, result!));
    return sourceResult(source, size, rect, result!);
  } catch (error) {
    if (error instanceof InputError) return sourceError(source, error.stage, error.message);
    throw error;
  }
}

/** Uses an image that other tiles need too: by region where it can be read so, from the cache where not. */
async function withSharedImage<T>(
  run: ShardRun,
  source: Source,
  size: Size,
  use: (fill: Fill) => Promise<T>,
): Promise<T> {
  const key = await run.clock.time('read', () => sourceVersion(source.uri));
  const { content, release } = await run.planes.borrow(key, (reserve) => loadImage(run, source.uri, reserve));
  try {
    switch (content.kind) {
      case 'regions':
        return await withOpenImage(run, source, size, use);
      case 'broken':
        throw content.error;
      case 'plane':
        checkSize(content, size);
        return await use(async (bytes, plan, item) => copyRows(content, bytes, plan, item));
    }
  } finally {
    release();
  }
}

/** Decodes the planned regions straight into staging memory. */
async function withOpenImage<T>(
  run: ShardRun,
  source: Source,
  size: Size,
  use: (fill: Fill) => Promise<T>,
): Promise<T> {
  const image = await run.clock.time('read', () => run.openImage(source.uri));
  try {
    checkSize(image, size);
    return await use(async (bytes, plan, { offset, stride }) => {
      await run.clock.time('decode', () =>
        settleAll(plan.copies.map(({ from, to }) => image.decode(from, bytes, offset + to.y * stride + to.x, stride))),
      );
    });
  } finally {
    await closeImage(run, image);
  }
}

async function loadImage(run: ShardRun, uri: string, reserve: (bytes: number) => Promise<void>): Promise<ImageContent> {
  let image: OpenImage | undefined;
  try {
    image = await run.clock.time('read', () => run.openImage(uri));
    if (image.readsRegions) return { kind: 'regions' };
    const { width, height } = image;
    await reserve(width * height);
    const pixels = new Uint8Array(width * height);
    const opened = image;
    await run.clock.time('decode', () => opened.decode({ x: 0, y: 0, width, height }, pixels, 0, width));
    return { kind: 'plane', width, height, pixels };
  } catch (error) {
    if (error instanceof InputError) return { kind: 'broken', error };
    throw error;
  } finally {
    if (image) await closeImage(run, image);
  }
}

function checkSize(now: Size, planned: Size): void {
  if (now.width === planned.width && now.height === planned.height) return;
  throw new InputError(
    'read',
    `The image is ${now.width} x ${now.height} now and was ${planned.width} x ${planned.height} when the job was planned`,
  );
}

function copyRows(
  { pixels, width }: { pixels: Uint8Array; width: number },
  bytes: Uint8Array,
  plan: ReadPlan,
  { offset, stride }: PlaneItem,
): void {
  for (const { from, to } of plan.copies) {
    for (let row = 0; row < from.height; row++) {
      const at = (from.y + row) * width + from.x;
      bytes.set(pixels.subarray(at, at + from.width), offset + (to.y + row) * stride + to.x);
    }
  }
}
