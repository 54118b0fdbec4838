import { type IndexVideo, planVideo } from '@halogrid/imaging';
import { countTiles, cutTiles, type Grid, type Pipeline, planPipelines } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { maxBatchFrames } from '@halogrid/proto/job-limits';
import { binsOfSource, histogramShape } from '@halogrid/results/histogram-shape';
import { jobGrid, jobPipelines } from '../job/accepted-job.ts';
import type { PreviewChoice } from '../job/preview-choice.ts';
import type { PlanStep, ShardWork, SourceRef } from '../job/shard.ts';
import { tileSide } from '../job/tile-side.ts';
import type { EarlierOutput } from '../output/previous/earlier-output.ts';
import { type Batch, FrameGatherer } from './gather-frames.ts';
import { channelBytes, type Input, type Probe, type Unopened } from './input-probe.ts';
import { nameOfFrame, planVideoSteps, type VideoPlanning } from './plan-video-steps.ts';

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
 * Bins of a batch at most, of all its frames together, 8 MiB of counts; a frame that has more is a batch by itself. Checking and
 * merging an answer holds up everything else meanwhile. 2048 frames of 1024 bins, as ldp has, are just as many.
 */
export const maxBatchBins = 2 ** 21;

/** Bytes of a count, as devices have it. */
const countBytes = 4;

/** Decoded bytes of a batch at most: what every WebGPU device can bind as one buffer. */
export const maxBatchBytes = 128 * 2 ** 20;

type Probed<Kind> = Extract<Probe, { kind: Kind }>;

/**
 * Words the steps of a plan from what was found out about its inputs, told one after another: numbers the sources and the
 * shards, cuts images into tiles and gathers the others into batches. It holds nothing but the batch being filled. What may be
 * long throws the signal's reason as soon as `signal` aborts.
 */
export class PlanEmitter {
  readonly #spec: JobSpec;
  readonly #pipelines: readonly Pipeline[];
  /** Input channels, which are those of every pipeline. */
  readonly #channels: number;
  readonly #grid: Grid;
  readonly #previews: PreviewChoice;
  readonly #signal: AbortSignal | undefined;
  readonly #tilePx: number;
  readonly #maxFrames: number;
  /** Bytes of the counts of an image, of all pipelines. */
  readonly #countsBytes: number;
  readonly #batches: FrameGatherer<SourceRef>;
  #sources = 0;
  #shards = 0;

  /** `previews` is told of every source that is computed or cannot be read; whoever calls tells it of those that are kept. */
  constructor(spec: JobSpec, pipeline: Pipeline, previews: PreviewChoice, signal: AbortSignal | undefined) {
    this.#spec = spec;
    this.#pipelines = spec.pipelines ? jobPipelines(spec) : [pipeline];
    this.#channels = pipeline.input.length;
    this.#previews = previews;
    this.#signal = signal;
    this.#tilePx = tileSide(spec.tilePx);
    this.#grid = jobGrid(spec);
    const bins = binsOfImage(this.#pipelines, this.#grid);
    const most = Math.max(1, Math.floor(maxBatchBins / bins));
    this.#countsBytes = countBytes * bins;
    this.#maxFrames = most;
    this.#batches = new FrameGatherer<SourceRef>({
      maxFrames: (batch) => Math.min(most, spec.batchFrames || chosenBatchFrames(batch)),
      maxBytes: maxBatchBytes,
    });
  }

  /** Sources so far. */
  get sources(): number {
    return this.#sources;
  }

  /** The part of a plan that a file makes whose earlier results hold: each of its sources, and that it is kept. */
  async *kept(
    { uri, name, version }: Input,
    results: ReturnType<EarlierOutput['results']>,
  ): AsyncGenerator<PlanStep, void, undefined> {
    for await (const { line, result } of results) {
      const index = this.#sources++;
      const { frame, timestampMs = null } = line;
      const source = frame === undefined ? { name } : { name: nameOfFrame(name, frame), video: { frame, timestampMs } };
      yield { kind: 'source', index, uri, size: result.size, tiles: 1, version, ...source };
      yield { kind: 'kept', index, name: line.name, result };
    }
    this.#signal?.throwIfAborted();
  }

  /** The part of a plan that a video makes, of which `index` lists the packets. */
  async *video({ input }: Probed<'video'>, index: IndexVideo): AsyncGenerator<PlanStep, void, undefined> {
    const { video, batchFrames } = this.#spec;
    const plan: typeof planVideo = (uri, choice, lengthOf) => planVideo(uri, choice, lengthOf, index);
    const planning: VideoPlanning = {
      ...{
        video,
        batchFrames,
        channels: this.#channels,
        maxFrames: Math.min(this.#maxFrames, maxBatchFrames),
        maxBytes: maxBatchBytes,
      },
      countsBytes: this.#countsBytes,
      // Frames are known together before any is planned: else more are chosen only until later ones take their place, and each has a
      // map computed. In ten recordings of 342 frames, 253 were chosen without this.
      expect: (frames) => {
        for (const frame of frames) this.#previews.expect({ uri: input.uri, frame });
      },
      nextSource: (frame) => this.#nextSource(input.uri, frame),
      nextShard: () => this.#shards++,
    };
    yield* planVideoSteps(input, planning, plan);
    this.#signal?.throwIfAborted();
  }

  /** Adds to `steps` a frame of which nothing was read. Nearly all of an archive are, and a generator of each costs more than the steps. */
  frame({ input, bytes }: Unopened, steps: PlanStep[]): void {
    const { uri, name, version } = input;
    const pin = pinOf(input);
    const index = this.#sources++;
    const source: SourceRef = { uri, index };
    if (pin) source.version = pin;
    if (this.#previews.add(index, { uri })) source.preview = true;
    const step: PlanStep = { kind: 'source', index, uri, name, size: undefined, tiles: 1 };
    if (version !== undefined) step.version = version;
    steps.push(step);
    const closed = this.#batches.add(source, bytes * this.#channels);
    if (closed) steps.push(this.#batch(closed));
  }

  /** An image of which something was read, or what cannot be. */
  *image(probed: Exclude<Probe, { kind: 'video' }>): Generator<PlanStep, void, undefined> {
    if (probed.kind === 'unopened') {
      const steps: PlanStep[] = [];
      this.frame(probed, steps);
      return yield* steps;
    }
    const { input } = probed;
    const { uri, name } = input;
    const version = input.version === undefined ? {} : { version: input.version };
    const pin = pinOf(input);
    const source: SourceRef = { uri, ...this.#nextSource(uri), ...(pin && { version: pin }) };
    if (probed.kind === 'unreadable') {
      const { stage, message } = probed.error;
      yield { kind: 'source', index: source.index, uri, name, tiles: 0, ...version };
      yield { kind: 'quarantine', index: source.index, stage, error: message };
      return;
    }
    const { size } = probed;
    const tiles = countTiles(size, this.#tilePx);
    yield { kind: 'source', index: source.index, uri, name, size, tiles, ...version };
    if (tiles > 1) yield* this.#tiles(source, probed);
    else {
      const closed = this.#batches.add(source, channelBytes(size) * this.#channels);
      if (closed) yield this.#batch(closed);
    }
  }

  /** The number of the next source, and whether a preview may be made of it. */
  #nextSource(uri: string, frame?: number): Pick<SourceRef, 'index' | 'preview'> {
    const index = this.#sources++;
    return { index, ...(this.#previews.add(index, { uri, frame }) && { preview: true }) };
  }

  /** The batch that is not full. */
  *rest(): Generator<PlanStep, void, undefined> {
    const rest = this.#batches.flush();
    if (rest) yield this.#batch(rest);
  }

  *#tiles(source: SourceRef, { size, version }: Probed<'sized'>): Generator<PlanStep, void, undefined> {
    const { width, height, pixel } = size;
    const pinned = { ...source, version };
    for (const rect of cutTiles(size, this.#tilePx)) {
      this.#signal?.throwIfAborted();
      const { stored, plans } = planPipelines(this.#pipelines, rect, size, this.#grid);
      const bytes = channelBytes({ ...stored, pixel });
      const work = { kind: 'tile', source: pinned, size: { width, height }, rect } as const;
      // Every plan has the same cells.
      const cells = plans[0]!.parts.length / (this.#grid.rows * this.#grid.columns);
      yield this.#shard(work, bytes * this.#channels, cells * this.#countsBytes);
    }
  }

  #batch({ frames: sources, costBytes }: Batch<SourceRef>): PlanStep {
    return this.#shard({ kind: 'frames', sources }, costBytes, sources.length * this.#countsBytes);
  }

  #shard(work: ShardWork, pixelBytes: number, countsBytes: number): PlanStep {
    return { kind: 'shard', shard: { shard: this.#shards++, work, costBytes: Math.max(pixelBytes, countsBytes) } };
  }
}

/**
 * The version that nodes are held to: what tells of a file wherever it is read. What a bucket says of its objects when it lists them
 * is none that reading one tells; what a manifest states of them is.
 */
function pinOf({ uri, version, listedVersion = version, isStated }: Input): string | undefined {
  return uri.startsWith('s3:') && !isStated ? undefined : listedVersion;
}

/** Bins of an image, of all pipelines. */
function binsOfImage(pipelines: readonly Pipeline[], grid: Grid): number {
  return pipelines.reduce((sum, pipeline) => sum + binsOfSource(histogramShape(pipeline, grid)), 0);
}
