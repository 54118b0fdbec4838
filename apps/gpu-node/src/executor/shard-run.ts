import { type PixelType, type Rect, type Sampling, type Size, sampleBytes } from '@halogrid/geometry';
import type { DecoderPool, OpenImage, PlaneTarget } from '@halogrid/imaging';
import {
  type Grid,
  type ItemResult,
  type Pipeline,
  planPipelines,
  type SharedItem,
  type SharedPlan,
} from '@halogrid/kernels';
import { Cause, type FoundResult, type SourceError } from '@halogrid/proto';
import { piecesOf, previewSampling, samplesOfPart, type writeChunk } from '@halogrid/results';
import { InputError } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import type { BatchResult, DecodedJpegs, Device, Staging } from '../devices/device.ts';
import type { JpegFeed } from '../feed/jpeg-feed.ts';
import type { RawFeed } from '../feed/raw-feed.ts';
import type { WorkerMeter } from '../metrics/worker-meter.ts';
import { Batch } from './batch.ts';
import type { BusyClock } from './busy-clock.ts';
import { causes } from './causes.ts';
import type { BandedJpegs } from './jpeg-bands.ts';
import type { PlaneCache } from './plane-cache.ts';
import { deeperReason } from './source-version.ts';
import type { StageSpans } from './stage-spans.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** One shard on its way: what computes it, what is asked for, and what was used so far. */
export interface ShardRun {
  readonly device: Device;
  /** Who decodes JPEGs to what the pipelines take; absent where it is cores whatever is asked for. */
  readonly jpegs?: JpegFeed | undefined;
  /** Who reads raw frames; absent where each is opened by itself. */
  readonly raws?: RawFeed | undefined;
  /** Part of the usual size that batches have, in (0, 1]. */
  readonly batchShare: number;
  readonly openImage: (uri: string) => Promise<OpenImage>;
  readonly decoders: DecoderPool;
  readonly meters: ExecutorMeters;
  readonly writeChunk: typeof writeChunk;
  readonly planes: PlaneCache;
  /** Large JPEGs that are decoded in bands; absent where none are. */
  readonly banded?: BandedJpegs | undefined;
  /** Over 8-bit pixels; batches have them over those of their images. All take the same channels. */
  readonly pipelines: readonly LeasedPipeline[];
  /** What the pipelines take, as decoders call it. */
  readonly channels: PlaneTarget['channels'];
  /** Laid over each image; its cells are counted apart. */
  readonly grid: Grid;
  /** Folder URI for chunks of the sources themselves. */
  readonly scratch: string;
  readonly wantsMap: boolean;
  /** Whether maps are kept as shards of a Zarr where that can be. */
  readonly zarrShards: boolean;
  /** Aborted when the result is not wanted any more. */
  readonly signal: AbortSignal;
  readonly clock: StageClock;
  /** For the log. */
  readonly note: (line: string) => void;
  /** Encoded bytes read so far. */
  inputBytes: number;
}

/** What is counted of those who decode for all shards. */
export interface ExecutorMeters {
  /** Threads that decode images. */
  readonly decode: WorkerMeter;
  /** Processes and engines that decode segments of videos. */
  readonly video: WorkerMeter;
}

export interface LeasedPipeline {
  readonly pipeline: Pipeline;
  /** Folder URI for chunks of its results. */
  readonly scratch: string;
}

/** `results`: one a pipeline. `mended`: a sentence that says what was removed from its file. */
export type SourceOutcome =
  | { kind: 'result'; results: FoundResult[]; mended?: string }
  | { kind: 'error'; error: SourceError };

/** Whether the dense result of a source is needed, and not its histogram alone. */
export function needsMap(run: ShardRun, source: LeasedSource): boolean {
  return run.wantsMap || needsPreview(source);
}

/** A batch without tiles; `isLimited`: of luma of the limited range, for devices that make it gray. */
export function emptyBatch(
  { pipelines, device, batchShare }: ShardRun,
  pixel: PixelType,
  { share = batchShare, isLimited = false } = {},
): Batch {
  return new Batch(
    pixel,
    pipelines.map(({ pipeline }) => pipeline),
    device,
    share,
    isLimited,
  );
}

/** How `rect` of an image of that size is read and computed. */
export function planTile({ pipelines, grid }: ShardRun, rect: Rect, size: Size): SharedPlan {
  return planPipelines(
    pipelines.map(({ pipeline }) => pipeline),
    rect,
    size,
    grid,
  );
}

/** The pixels of `rect` of which each pipeline's dense result is wanted, for needsMap; undefined where all of them are. */
export function samplingsOf({ wantsMap, pipelines }: ShardRun, rect: Rect, size: Size): (Sampling | undefined)[] {
  return pipelines.map(({ pipeline }) => {
    if (wantsMap) return undefined;
    const sampling = previewSampling(rect, size, pipeline.output.channels.length);
    return sampling.step > 1 ? sampling : undefined;
  });
}

/** Whether pictures of a source and of its result are made. */
export const needsPreview = ({ preview }: LeasedSource): boolean => preview === true;

/** What was found of a batch. */
export interface BatchResults {
  /** For each item, in their order, one a pipeline. */
  items: ItemResult[][];
  /** Gives back the memory of dense results, which nobody may read from then on. To be called once they are written. */
  release(): void;
}

/**
 * Waits for staging memory, has `fill` put the batch's planes into it, and computes those that `fill` returns, pipeline after
 * pipeline. `isRead`: `fill` reads the planes as well, which then
 * go to a GPU by way of other memory: its own is made for writing, and reading a preview of 1080p from it took 3 s (measured on an
 * H200).
 */
export async function runOnDevice(
  run: ShardRun,
  batch: Batch,
  fill: (bytes: Uint8Array) => Promise<SharedItem[]>,
  isRead: boolean,
): Promise<BatchResults> {
  const { stagingBytes, isLimited } = batch;
  const staging = await run.device.acquire(stagingBytes, isLimited);
  let items: SharedItem[];
  try {
    run.signal.throwIfAborted();
    const isApart = isRead && run.device.info.kind === 'gpu';
    const bytes = isApart ? new Uint8Array(stagingBytes) : staging.bytes;
    items = await fill(bytes);
    run.signal.throwIfAborted();
    if (isApart) staging.bytes.set(bytes);
  } catch (error) {
    staging.release();
    throw error;
  }
  if (items.length === 0) {
    staging.release();
    return { items: [], release: () => {} };
  }
  return runPipelines(run, batch, staging, items);
}

/** Computes items of a batch whose planes are there, as runOnDevice does. The staging memory is given back. */
export async function runPipelines(
  run: ShardRun,
  { withMap, pipelines }: Pick<Batch, 'withMap' | 'pipelines'>,
  staging: Staging,
  items: readonly SharedItem[],
): Promise<BatchResults> {
  const results: ItemResult[][] = items.map(() => []);
  const batches: BatchResult[] = [];
  for (const [i, pipeline] of pipelines.entries()) {
    const its = items.map((shared) => shared.items[i]!);
    const keep = i + 1 < pipelines.length;
    const computed = await run.clock.onDevice(() => run.device.run(staging, its, pipeline, withMap, keep));
    batches.push(computed);
    for (const stage of ['upload', 'compute', 'readback'] as const) run.clock.add(stage, computed.seconds[stage]);
    for (const [j, result] of computed.items.entries()) results[j]!.push(result);
  }
  return {
    items: results,
    release: () => {
      for (const batch of batches) batch.release?.();
    },
  };
}

/** Keeps each pipeline's dense result of `rect` as the chunks that are wanted of it. Rejects with OutputError. */
export async function writeChunks(
  run: ShardRun,
  source: LeasedSource,
  size: Size,
  rect: Rect,
  results: readonly ItemResult[],
): Promise<void> {
  if (!needsMap(run, source)) return;
  for (const [i, leased] of run.pipelines.entries()) {
    await writeChunksOf(run, leased, { source, size, rect }, results[i]!);
  }
}

async function writeChunksOf(
  run: ShardRun,
  { pipeline, scratch }: LeasedPipeline,
  { source, size, rect }: { source: LeasedSource; size: Size; rect: Rect },
  { map }: ItemResult,
): Promise<void> {
  const { sample, channels } = pipeline.output;
  const type = { sample, bands: channels.length };
  const chunk = { scratch, source: source.index, size, type, rect };
  const { bytes, stride, bandBytes } = map!;
  const samples = { bytes, strideBytes: stride, bandBytes, areOfPreview: !run.wantsMap };
  try {
    for (const piece of run.wantsMap ? piecesOf(rect, size, type, run.zarrShards) : []) {
      await run.writeChunk({ ...chunk, ...piece }, samplesOfPart(samples, type, rect, piece.rect));
    }
    if (needsPreview(source)) await run.writeChunk({ ...chunk, kind: 'preview' }, samples);
  } catch (error) {
    throw new OutputError(error);
  }
}

/**
 * Keeps those pixels of `rect` of the source itself that a preview shows beside the map, where it has one; `item` says where it
 * lies in `bytes`. Rejects with OutputError.
 */
export async function writeSourceChunk(
  run: ShardRun,
  source: LeasedSource,
  { size, rect, pixel }: { size: Size; rect: Rect; pixel: PixelType },
  bytes: Uint8Array,
  { items }: SharedItem,
): Promise<void> {
  if (!needsPreview(source)) return;
  const { stages, offset, stride, planeBytes } = items[0]!;
  const type = { sample: pixel, bands: run.pipelines[0]!.pipeline.input.length };
  // Each kernel's halo is around what the next one reads.
  const x = stages.reduce((sum, { out }) => sum + out.x, 0);
  const y = stages.reduce((sum, { out }) => sum + out.y, 0);
  const at = offset + y * stride + x * sampleBytes[pixel];
  const samples = { bytes: bytes.subarray(at), strideBytes: stride, bandBytes: planeBytes };
  const chunk = { scratch: run.scratch, kind: 'sums' as const, source: source.index, size, type, rect };
  try {
    await run.writeChunk(chunk, samples);
  } catch (error) {
    throw new OutputError(error);
  }
}

/** What was found of `rect` of a source: `items` has what each pipeline did. When it was captured is said once, by the first. */
export function sourceOutcome(
  source: LeasedSource,
  size: Size,
  rect: Rect,
  items: readonly ItemResult[],
  captured: CaptureTime | undefined,
  mended?: string,
): SourceOutcome {
  const { width, height } = size;
  const results = items.map(({ counted, bins }, i): FoundResult => {
    const result = { source: source.index, width, height, rect, counted, bins };
    if (i > 0) return { ...result, pipeline: i };
    return captured ? { ...result, captured } : result;
  });
  return { kind: 'result', results, ...(mended !== undefined && { mended }) };
}

/** The outcome of a source that could not be processed. Rejects with every other `error`: the shard is tried again for these. */
export async function failedOutcome(source: LeasedSource, error: unknown): Promise<SourceOutcome> {
  return (await failedOutcomes([source], error))[0]!;
}

/** The same for sources that are all in one file. */
export async function failedOutcomes(sources: readonly LeasedSource[], error: unknown): Promise<SourceOutcome[]> {
  if (!(error instanceof InputError)) throw error;
  const { stage, message, fault } = error.fault === 'content' ? await deeperReason(sources[0]!, error) : error;
  return sources.map((source) => sourceError(source, stage, message, causes[fault]));
}

export function sourceError(
  source: LeasedSource,
  stage: string,
  error: string,
  cause: Cause = Cause.CONTENT,
): SourceOutcome {
  return { kind: 'error', error: { source: source.index, stage, error, cause } };
}

/** Closes the image and counts what was read of it. */
export async function closeImage(run: ShardRun, image: OpenImage): Promise<void> {
  run.inputBytes += image.inputBytes;
  await image.close();
}

/** Pixels a side that the kernels of every pipeline need. */
export const minSideOf = ({ pipelines }: ShardRun): number =>
  Math.max(...pipelines.map(({ pipeline }) => pipeline.minSide));

/** One sentence where an image is smaller than a kernel of a pipeline. */
export function tooSmall({ width, height }: Size, run: ShardRun): string | undefined {
  const minSide = minSideOf(run);
  if (Math.min(width, height) >= minSide) return undefined;
  return `A ${width} x ${height} image is smaller than the kernel, which needs ${minSide} pixels a side`;
}

/** The results of a shard cannot be written: the disk is full, the folder is gone. Nothing is wrong with its sources. */
export class OutputError extends Error {
  constructor(cause: unknown) {
    super(`The results cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'OutputError';
  }
}

/** Where a shard's time goes; the order is that of the work. */
export const stages = ['read', 'decode', 'upload', 'compute', 'readback', 'encode'] as const;
export type Stage = (typeof stages)[number];

/** Sums the seconds that one shard spends in each stage. */
export class StageClock {
  readonly seconds: Record<Stage, number> = { read: 0, decode: 0, upload: 0, compute: 0, readback: 0, encode: 0 };
  readonly #nowMs: () => number;
  readonly #busy: BusyClock;
  readonly #spans: StageSpans;
  readonly #readsFrom: 'network' | 'read';

  /** `busy` is that of the shard's job. `readsFrom`: where the sources are, a server or a disk. */
  constructor(nowMs: () => number, busy: BusyClock, spans: StageSpans, readsFrom: 'network' | 'read' = 'read') {
    this.#nowMs = nowMs;
    this.#busy = busy;
    this.#spans = spans;
    this.#readsFrom = readsFrom;
  }

  /** Counts the time until `work` settles. */
  async time<T>(stage: 'read' | 'decode' | 'encode', work: () => Promise<T>): Promise<T> {
    const activity = stage === 'read' ? this.#readsFrom : stage;
    const startedMs = this.#nowMs();
    this.#busy.begin(activity);
    try {
      return await work();
    } finally {
      this.#busy.end(activity);
      this.#spans.add(stage, startedMs);
      this.seconds[stage] += (this.#nowMs() - startedMs) / 1000;
    }
  }

  /**
   * Counts the time in which the device has a batch; how long it was at work on it is told by its own clock, because batches wait for
   * one another.
   */
  async onDevice(work: () => Promise<BatchResult>): Promise<BatchResult> {
    const startedMs = this.#nowMs();
    this.#busy.begin('device');
    try {
      const result = await work();
      const { upload, compute, readback } = result.seconds;
      this.#busy.addDevice(upload + compute + readback);
      return result;
    } finally {
      this.#busy.end('device');
      this.#spans.add('device', startedMs);
    }
  }

  /** Counts the time in which the device itself has decoded. */
  addDecoded({ upload, decode }: DecodedJpegs['seconds']): void {
    this.#busy.addDevice(upload + decode);
    this.add('upload', upload);
    this.add('decode', decode);
  }

  add(stage: Stage, seconds: number): void {
    this.seconds[stage] += seconds;
  }
}

/** As Promise.all, but rejects only after every promise has settled, so that nothing is still using what they shared. */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
