import { InputError, type OpenImage, shortVersion, sourceVersion } from '@halogrid/imaging';
import { type CopyRect, type PipelineItem, planPipeline, type Size } from '@halogrid/kernels';
import type { Source, Tile } from '@halogrid/proto';
import { Batch } from './batch.ts';
import type { ImageContent } from './plane-cache.ts';
import { settleAll } from './settle-all.ts';
import {
  closeImage,
  failedOutcome,
  needsMap,
  runOnDevice,
  type ShardRun,
  type SourceOutcome,
  sourceError,
  sourceResult,
  writeChunks,
} from './shard-run.ts';
import { tooSmall } from './too-small.ts';

/** Copies those parts of the image to their places in staging memory. */
type Fill = (bytes: Uint8Array, copies: readonly CopyRect[], item: PipelineItem) => Promise<void>;

/** Computes one tile. */
export async function runTile(run: ShardRun, { source, width, height, rect, version }: Tile): Promise<SourceOutcome> {
  if (!source || !rect) throw new Error('The lease has a tile without a source or a rectangle');
  const size = { width, height };
  const small = tooSmall(size, run.pipeline);
  if (small) return sourceError(source, 'read', small);
  const plan = planPipeline(run.pipeline, rect, size, run.grid);
  const batch = new Batch(run.pipeline, run.device.maxStagingBytes);
  const item = batch.add(plan, needsMap(run, source));
  if (!item) {
    const limit = `the device takes at once (${run.device.maxStagingBytes} bytes)`;
    throw new Error(`A tile of ${rect.width} x ${rect.height} pixels and its results are more than ${limit}`);
  }
  const isWhole = rect.width === width && rect.height === height;
  try {
    const compute = (fill: Fill) =>
      runOnDevice(run, batch, async (bytes) => {
        await fill(bytes, plan.copies, item);
        return [item];
      });
    const [result] = isWhole
      ? await withOpenImage(run, source, size, compute)
      : await withSharedImage(run, source, version, size, compute);
    await run.clock.time('encode', () => writeChunks(run, source, size, rect, result!));
    return sourceResult(source, size, rect, result!);
  } catch (error) {
    return failedOutcome(run, source, error);
  }
}

/** Uses an image that other tiles need too: by region where it can be read so, from the cache where not. */
async function withSharedImage<T>(
  run: ShardRun,
  source: Source,
  planned: number,
  size: Size,
  use: (fill: Fill) => Promise<T>,
): Promise<T> {
  const version = await run.clock.time('read', () => sourceVersion(source.uri));
  if (planned !== 0 && shortVersion(version) !== planned)
    throw new InputError('read', 'The image was written to while the job ran');
  const { content, release } = await run.planes.borrow(`${run.channels} ${version}`, (reserve) =>
    loadImage(run, source.uri, reserve),
  );
  try {
    switch (content.kind) {
      case 'regions':
        return await withOpenImage(run, source, size, use);
      case 'broken':
        throw content.error;
      case 'planes':
        checkSize(content, size);
        return await use(async (bytes, copies, item) => copyPlanes(run, content.pixels, size, bytes, copies, item));
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
    const { channels } = run;
    return await use(async (bytes, copies, { offset, stride, planeBytes }) => {
      await run.clock.time('decode', () =>
        settleAll(
          copies.map(({ from, to }) => {
            const at = offset + to.y * stride + to.x;
            return image.decode(from, { bytes, offset: at, stride, channels, planeBytes });
          }),
        ),
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
    const planeBytes = width * height;
    const allBytes = planeBytes * run.pipeline.input.length;
    await reserve(allBytes);
    const pixels = new Uint8Array(allBytes);
    const opened = image;
    await run.clock.time('decode', () => {
      const to = { bytes: pixels, offset: 0, stride: width, channels: run.channels, planeBytes };
      return opened.decode({ x: 0, y: 0, width, height }, to);
    });
    return { kind: 'planes', width, height, pixels };
  } catch (error) {
    if (error instanceof InputError && !error.mayPass) return { kind: 'broken', error };
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

/** Copies parts of an image's planes, whose rows have no gaps. */
function copyPlanes(
  { pipeline }: ShardRun,
  pixels: Uint8Array,
  { width, height }: Size,
  bytes: Uint8Array,
  copies: readonly CopyRect[],
  { offset, stride, planeBytes }: PipelineItem,
): void {
  for (let plane = 0; plane < pipeline.input.length; plane++) {
    for (const { from, to } of copies) {
      for (let row = 0; row < from.height; row++) {
        const at = (plane * height + from.y + row) * width + from.x;
        bytes.set(pixels.subarray(at, at + from.width), offset + plane * planeBytes + (to.y + row) * stride + to.x);
      }
    }
  }
}
