import { sampleBytes } from '@halogrid/geometry';
import { isVideoFile, openImage, peekSize } from '@halogrid/imaging';
import { type Grid, type Pipeline, planPipeline } from '@halogrid/kernels';
import { type JobSpec, maxBatchFrames } from '@halogrid/proto';
import {
  hasVideoExtension,
  InputError,
  listAllSources,
  mostPixels,
  redactUri,
  type Source,
  usualPixels,
  versionOfContent,
} from '@halogrid/sources';
import { limitConcurrency, mapAhead } from '@halogrid/threads';
import { EarlierOutput } from '../earlier/earlier-output.ts';
import { keptSteps } from '../earlier/kept-steps.ts';
import { jobGrid } from '../job-grid.ts';
import { binsOfSource, histogramShape } from '../ledger/histogram-shape.ts';
import type { ImageSize, PlannedStep, PlanStep, ShardWork, SourceRef } from '../shard.ts';
import { countTiles, cutTiles, tileSide } from './cut-tiles.ts';
import { type Batch, FrameGatherer } from './gather-frames.ts';
import { PlanNotes } from './plan-notes.ts';
import { planVideoSteps } from './plan-video-steps.ts';

/** Frames a shard at most, unless the job says otherwise. */
export const defaultBatchFrames = 2048;

/**
 * Frames of the batch with that number, unless the job says otherwise: short at first, so that every node gets some of a
 * small folder and soon, then longer, so that an archive of small frames does not cost a lease for every few.
 */
export function chosenBatchFrames(batch: number): number {
  return Math.min(defaultBatchFrames, 8 * 2 ** Math.floor(batch / 8));
}

/**
 * Bins of a batch at most, of all its frames together: its answer is one message, and its checking and merging hold up
 * everything else meanwhile. 2048 frames of 1024 bins, as ldp has, are just as many.
 */
export const maxBatchBins = 2 ** 21;

/** Decoded bytes of a batch at most: what every WebGPU device can bind as one buffer. */
export const maxBatchBytes = 128 * 2 ** 20;

/** A remote file larger than this is opened to see whether it must be cut; a request for each smaller one is too many. */
const probeRemoteAboveBytes = 16 * 2 ** 20;

/**
 * Inputs looked at ahead, most of them at no more than their header. With 8, the plan of JPEGs came too slowly for four H200:
 * 5,473 frames a second instead of 6,343 (measured).
 */
const looksAhead = 256;
/** Images opened at once: enough to hide a disk's or a server's latency, few enough to hold open, of which some are read whole. */
const opensAhead = 8;

/** An input; `listedVersion` is its version where `version` is that of its content. */
type Input = Source & { listedVersion?: string };

/** What the planner found out about an input. */
type Probe =
  | { kind: 'sized'; input: Input; size: ImageSize; version?: string }
  | { kind: 'video'; input: Input }
  | { kind: 'unopened'; input: Input; bytes: number }
  | { kind: 'unreadable'; input: Input; error: InputError };

/** An input of which the result of an earlier job holds: that of its file with that number. */
interface Kept {
  kind: 'kept';
  input: Input;
  file: number;
}

/** How the planner learns of inputs. */
export interface PlannerInputs {
  list: typeof listAllSources;
  open: typeof openImage;
  peek: typeof peekSize;
  earlier: (typeof EarlierOutput)['open'];
}

const realInputs: PlannerInputs = {
  list: listAllSources,
  open: openImage,
  peek: peekSize,
  earlier: EarlierOutput.open,
};

/**
 * Plans a job: sources in the order given, numbered from 0, each before the shards that compute it. Images larger than a
 * tile are cut, videos make a source of each of their frames (see planVideoSteps), inputs that cannot be read are
 * quarantined, and all others are gathered into batches of frames.
 *
 * Inputs that were named themselves, and all of a job that asks for a tile size, are opened. Of files found in folders, only
 * those whose size could hold more than a tile's pixels are looked at: first at the size in their header, which costs 40 µs
 * of a core for a JPEG where opening takes 80 (measured) and decoding it a millisecond or more. So a node never meets a
 * frame that is too large to hold, and a JPEG below 32 KiB costs nothing.
 *
 * Inputs that an earlier job in the output folder has done, and that have not been written to since, are not opened: their
 * results are kept, unless a preview is missing that they need now.
 *
 * Folders that hold the output of a job are left out where they are not named themselves, and notes tell of them.
 *
 * Nothing is held but a few inputs ahead and the batch being filled, so a plan may be far longer than memory, and of an
 * earlier job some 50 bytes an input. Throws the signal's reason as soon as `signal` aborts, and what `list` throws for a source that is not there.
 */
export async function* planJob(
  spec: JobSpec,
  pipeline: Pipeline,
  signal?: AbortSignal,
  { list, open, peek, earlier: openEarlier }: PlannerInputs = realInputs,
): AsyncGenerator<PlannedStep> {
  const tilePx = tileSide(spec.tilePx);
  const tilePixels = tilePx ** 2;
  const channels = pipeline.input.length;
  const most = maxFramesOf(pipeline, jobGrid(spec));
  const batches = new FrameGatherer<SourceRef>({
    maxFrames: (batch) => Math.min(most, spec.batchFrames || chosenBatchFrames(batch)),
    maxBytes: maxBatchBytes,
  });
  let index = 0;
  let shards = 0;
  const shard = (work: ShardWork, costBytes: number): PlanStep => {
    return { kind: 'shard', shard: { shard: shards++, work, costBytes } };
  };
  const frames = (batch: Batch<SourceRef>): PlanStep => {
    return shard({ kind: 'frames', sources: batch.frames }, batch.costBytes);
  };

  const earlier = await openEarlier(spec, pipeline);
  const probe = async (listed: Source): Promise<Probe | Kept> => {
    // Before anything is waited for, so that inputs that are listed twice take their results in order.
    const file = listed.error ? undefined : earlier?.index.take(redactUri(listed.uri));
    const isLocal = !listed.error && listed.uri.startsWith('file:');
    const { version: listedVersion } = listed;
    const input: Input =
      spec.checksum && isLocal ? { ...listed, listedVersion, version: await versionOfContent(listed.uri) } : listed;
    if (file === undefined || !input.version || !(await earlier!.holds(file, input.uri, input.version)))
      return look(input);
    return { kind: 'kept', input, file };
  };
  const opening = limitConcurrency(opensAhead);
  const openToLook = (input: Input): Promise<Probe> => opening(() => probeImage(input, open));
  const look = async (input: Input): Promise<Probe> => {
    const { uri, sizeBytes } = input;
    if (input.error) return { kind: 'unreadable', input, error: new InputError('read', input.error) };
    if (input.named || hasVideoExtension(input.name)) {
      const isVideo = await isVideoFile(uri).catch(asInputError);
      if (isVideo instanceof InputError) return { kind: 'unreadable', input, error: isVideo };
      if (isVideo && channels === 1) return { kind: 'video', input };
      if (isVideo) return { kind: 'unreadable', input, error: new InputError('decode', noColour) };
    }
    if (spec.tilePx || input.named) return openToLook(input);
    const unopened = (bytes = estimateBytes(uri, sizeBytes)): Probe => ({ kind: 'unopened', input, bytes });
    if (!uri.startsWith('file:')) return sizeBytes > probeRemoteAboveBytes ? openToLook(input) : unopened();
    if (mostPixels(uri, sizeBytes) <= tilePixels) return unopened();
    const size = await peek(uri);
    return size && size.width * size.height <= tilePixels ? unopened(bytesOf(size)) : openToLook(input);
  };
  const notes = new PlanNotes(spec.out);
  const listed = list(spec.sources, { onLeftOut: notes.leaveOut });
  for await (const found of mapAhead(listed, looksAhead, probe, { signal })) {
    yield* notes.take();
    if (found.kind === 'kept' && (await earlier!.hasPreviews(found.file, index))) {
      yield* keptSteps(found.input, earlier!.results(found.file), () => index++);
      signal?.throwIfAborted();
      continue;
    }
    const probed = found.kind === 'kept' ? await look(found.input) : found;
    const { uri, name } = probed.input;
    const version = probed.input.version === undefined ? {} : { version: probed.input.version };
    if (probed.kind === 'video') {
      yield* planVideoSteps(probed.input, {
        ...{
          video: spec.video,
          batchFrames: spec.batchFrames,
          maxFrames: Math.min(most, maxBatchFrames),
          maxBytes: maxBatchBytes,
        },
        nextSource: () => index++,
        nextShard: () => shards++,
      });
      signal?.throwIfAborted();
      continue;
    }
    const pin = pinOf(probed.input);
    const source: SourceRef = { index: index++, uri, ...(pin && { version: pin }) };
    if (probed.kind === 'unreadable') {
      const { stage, message } = probed.error;
      yield { kind: 'source', index: source.index, uri, name, tiles: 0, ...version };
      yield { kind: 'quarantine', index: source.index, stage, error: message };
      continue;
    }
    const size = probed.kind === 'sized' ? probed.size : undefined;
    const tiles = size ? countTiles(size, tilePx) : 1;
    yield { kind: 'source', index: source.index, uri, name, size, tiles, ...version };
    if (probed.kind === 'sized' && size && tiles > 1) {
      const pinned = { ...source, version: probed.version };
      for (const rect of cutTiles(size, tilePx)) {
        signal?.throwIfAborted();
        const { stored } = planPipeline(pipeline, rect, size).stages[0]!;
        const bytes = bytesOf({ ...stored, pixel: size.pixel });
        yield shard(
          { kind: 'tile', source: pinned, size: { width: size.width, height: size.height }, rect },
          bytes * channels,
        );
      }
    } else {
      const bytes = probed.kind === 'sized' ? bytesOf(probed.size) : probed.bytes;
      const closed = batches.add(source, bytes * channels);
      if (closed) yield frames(closed);
    }
  }
  const rest = batches.flush();
  if (rest) yield frames(rest);
  yield* notes.takeLast();
}

/** Of videos that no name told to be such before. */
const noColour = 'Colour of videos is not supported: their gray is, with channels=gray';

async function probeImage(input: Input, open: typeof openImage): Promise<Probe> {
  try {
    const image = await open(input.uri);
    const { width, height, pixel, version } = image;
    await image.close();
    return { kind: 'sized', input, size: { width, height, pixel }, version };
  } catch (error) {
    return { kind: 'unreadable', input, error: asInputError(error) };
  }
}

/**
 * The version that nodes are held to: what tells of a file wherever it is read. What a bucket says of its objects when it lists them
 * is none that reading one tells.
 */
function pinOf({ uri, version, listedVersion = version }: Input): string | undefined {
  return uri.startsWith('s3:') ? undefined : listedVersion;
}

/** Throws what is not the input's fault. */
function asInputError(error: unknown): InputError {
  if (error instanceof InputError && error.fault !== 'process') return error;
  throw error;
}

/** Of a channel. */
const bytesOf = ({ width, height, pixel = 'u8' }: ImageSize): number => width * height * sampleBytes[pixel];

/** Frames of a batch at most, for the number of their bins. */
function maxFramesOf(pipeline: Pipeline, grid: Grid): number {
  return Math.max(1, Math.floor(maxBatchBins / binsOfSource(histogramShape(pipeline, grid))));
}

/**
 * Decoded bytes of a channel of an image that nobody opened, from the size of its file. Batches only become smaller where it is
 * too high, and nodes hold more than their credit where it is too low.
 */
const estimateBytes = (uri: string, fileBytes: number): number => Math.max(1, usualPixels(uri, fileBytes));
