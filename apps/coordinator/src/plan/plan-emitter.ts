import { type IndexVideo, planVideo } from '@halogrid/imaging';
import { jobGrid, jobPipelines } from '@halogrid/jobs/accepted-job';
import type { PlannedSources } from '@halogrid/jobs/planned-sources';
import type { PreviewChoice } from '@halogrid/jobs/preview-choice';
import type { PlanStep, ShardWork } from '@halogrid/jobs/shard';
import { gatherSources } from '@halogrid/jobs/source-gatherer';
import { tileSide } from '@halogrid/jobs/tile-side';
import { countTiles, cutTiles, type Grid, type Pipeline, planesRead, planPipelines } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { maxBatchFrames } from '@halogrid/proto/job-limits';
import { addEarlier, type EarlierPlace } from '@halogrid/results/earlier-runs';
import { binsOfSource, histogramShape } from '@halogrid/results/histogram-shape';
import { OutputNames } from '@halogrid/results/output-names';
import { formatOfName } from '@halogrid/sources';
import { isPlaneUri } from '@halogrid/sources/plane-uri';
import type { BlockSource } from '@halogrid/sources/source-block';
import type { EarlierOutput } from '../output/previous/earlier-output.ts';
import type { DoneLine } from '../output/previous/earlier-part.ts';
import { FrameGatherer, type GatheredFrames } from './gather-frames.ts';
import { channelBytes, type Input, type InputFinding, type Unopened } from './input-probe.ts';
import { type NumberedSource, nameOfFrame, planVideoSteps, type VideoPlanning } from './plan-video-steps.ts';
import { ShareDealer } from './share-dealer.ts';
import { SourcesAside } from './sources-aside.ts';

/** The most frames in a shard, unless the job has its own limit. */
export const defaultBatchFrames = 2048;

/**
 * How many frames a batch has, by its number from 0, unless the job has its own limit. The first batches are short, so
 * that every node soon gets some frames, even of a small folder. Later ones are longer, so that an archive of small
 * frames does not need a lease for every few.
 */
export function chosenBatchFrames(batch: number): number {
  return Math.min(defaultBatchFrames, 8 * 2 ** Math.floor(batch / 8));
}

/**
 * The same for a plan whose shards are shared. A batch has about 1/800 of the frames before it, so that a hundred
 * shares come out even. The number of shares does not matter, so that one plan serves any number.
 */
export function sharedBatchFrames(batch: number): number {
  return Math.min(defaultBatchFrames, 2 ** Math.floor(batch / 800));
}

/**
 * The most bins of all frames of a batch together: 8 MiB of counts. A frame with more bins is a batch by itself. The
 * limit is there because checking and merging an answer holds up everything else. It allows 2048 frames of 1024 bins,
 * as ldp has.
 */
export const maxBatchBins = 2 ** 21;

/** Bytes of a count on devices. */
const countBytes = 4;

/** The most bytes of known counts that go along with a source, so that a lease stays one message. */
const mostKnownBytes = 2 ** 20;

/** The most decoded bytes of a batch: every WebGPU device can bind a buffer of this size. */
export const maxBatchBytes = 128 * 2 ** 20;

type Probed<Kind> = Extract<InputFinding, { kind: Kind }>;

/**
 * Makes the steps of a plan from findings about its inputs, which come one after another: numbers and names the
 * sources, numbers the shards, cuts large images into tiles and gathers other images into batches. In memory it holds
 * only the batches that are being filled, and some sources that are kept or cannot be read. Generators throw the
 * signal's reason as soon as `signal` aborts.
 */
export class PlanEmitter {
  readonly #spec: JobSpec;
  readonly #pipelines: readonly Pipeline[];
  /** The number of input channels: every pipeline has the same. */
  readonly #channels: number;
  readonly #grid: Grid;
  readonly #previews: PreviewChoice;
  readonly #signal: AbortSignal | undefined;
  readonly #tilePx: number;
  readonly #maxFrames: number;
  /** Bytes of the counts of an image, of all pipelines. */
  readonly #countsBytes: number;
  readonly #batches: FrameGatherer;
  /** Batches of frames with known counts, kept apart: some pipelines need not compute them. */
  readonly #knownBatches: FrameGatherer;
  readonly #names = new OutputNames();
  readonly #aside = new SourcesAside();
  readonly #kept: SourcesAside;
  /** Undefined: the job does all shards. */
  readonly #dealer: ShareDealer | undefined;
  /** The places in the earlier output of kept sources that are not in a step yet. */
  #earlier: number[] = [];
  #sources = 0;
  #shards = 0;

  /** Adds every source that is computed or cannot be read to `previews`; the caller adds kept sources. */
  constructor(spec: JobSpec, pipeline: Pipeline, previews: PreviewChoice, signal: AbortSignal | undefined) {
    this.#spec = spec;
    this.#pipelines = spec.pipelines ? jobPipelines(spec) : [pipeline];
    this.#channels = planesRead(pipeline);
    this.#previews = previews;
    this.#signal = signal;
    this.#tilePx = tileSide(spec.tilePx);
    this.#grid = jobGrid(spec);
    this.#dealer = spec.share && new ShareDealer(spec.share);
    const bins = binsOfImage(this.#pipelines, this.#grid);
    const most = Math.max(1, Math.floor(maxBatchBins / bins));
    this.#countsBytes = countBytes * bins;
    this.#maxFrames = most;
    this.#kept = new SourcesAside(most);
    const chosen = spec.share ? sharedBatchFrames : chosenBatchFrames;
    const limits = {
      maxFrames: (batch: number) => Math.min(most, spec.batchFrames || chosen(batch)),
      maxBytes: maxBatchBytes,
    };
    this.#batches = new FrameGatherer(limits);
    this.#knownBatches = new FrameGatherer(limits);
  }

  /** How many sources were numbered so far. */
  get sources(): number {
    return this.#sources;
  }

  /** The steps of a file whose earlier results are still valid: each of its sources is kept. */
  async *kept(
    { uri, name, sizeBytes, version }: Input,
    earlier: AsyncIterable<EarlierPlace & { line: DoneLine }>,
  ): AsyncGenerator<PlanStep[], void, undefined> {
    for await (const { line, ...place } of earlier) {
      const { frame, timestampMs = null, width, height } = line;
      const own = frame === undefined ? name : nameOfFrame(name, frame);
      const source: BlockSource = {
        index: this.#sources++,
        uri,
        name: this.#names.next(own),
        size: { width, height },
        sizeBytes: frame === undefined ? sizeBytes : 0,
        version,
        video: frame === undefined ? undefined : { frame, timestampMs },
        kept: line.name,
      };
      addEarlier(this.#earlier, place);
      yield this.#keptSteps(this.#kept.add(source));
    }
    this.#signal?.throwIfAborted();
  }

  /**
   * The steps of a video. `index` lists its packets; `known` yields the known counts of its frames; `leaveOut` is
   * called if it has no frame in the chosen time.
   */
  async *video(
    { input }: Probed<'video'>,
    index: IndexVideo,
    leaveOut: () => void,
    known?: ReturnType<EarlierOutput['known']>,
  ): AsyncGenerator<PlanStep[], void, undefined> {
    const { video, batchFrames } = this.#spec;
    const plan: typeof planVideo = (uri, choice, lengthOf) => planVideo(uri, choice, lengthOf, index);
    const planning: VideoPlanning = {
      video,
      batchFrames,
      channels: this.#channels,
      maxFrames: Math.min(this.#maxFrames, maxBatchFrames),
      maxBytes: maxBatchBytes,
      countsBytes: this.#countsBytes,
      // All frames of a segment are announced before any is planned. Otherwise, frames are chosen for a preview until
      // later ones take their place, and each chosen frame has its map computed: of ten recordings with 342 frames, 253
      // frames were chosen.
      expect: (frames) => {
        for (const frame of frames) this.#previews.expect({ uri: input.uri, frame });
      },
      number: (name, frame) => this.#number({ ...input, name, sizeBytes: 0 }, frame),
      known: known && ((frame) => knownFrame(known, frame)),
      leaveOut,
      setAside: (source) => asideSteps(this.#aside.add(source)),
      shard: (work, costBytes) => this.#planned(work, costBytes),
    };
    yield* planVideoSteps(input, planning, plan);
    this.#signal?.throwIfAborted();
  }

  /**
   * Adds the steps of a frame that was not read to `steps`. Nearly all frames of an archive are such, and a generator
   * for each would cost more than the steps.
   */
  frame({ input, bytes }: Unopened, steps: PlanStep[], known?: Uint8Array): void {
    const source: BlockSource = this.#number(input);
    const pin = pinOf(input);
    if (pin !== undefined) source.pin = pin;
    this.#batched(source, bytes, steps, known);
  }

  /** The steps of an image, also of one that cannot be read. `known`: its known counts. */
  *image(probed: Exclude<InputFinding, { kind: 'video' }>, known?: Uint8Array): Generator<PlanStep[], void, undefined> {
    const steps: PlanStep[] = [];
    if (probed.kind === 'unopened') this.frame(probed, steps, known);
    else {
      const { input } = probed;
      const source = this.#number(input);
      if (probed.kind === 'unreadable') {
        const { stage, message } = probed.error;
        steps.push(...asideSteps(this.#aside.add({ ...source, error: { stage, error: message } })));
      } else {
        const { size, version } = probed;
        const tiles = countTiles(size, this.#tilePx);
        if (tiles > 1) return yield* this.#tiles({ ...source, size, tiles, pin: version });
        // A plane of a Zarr has no listed version, and a slide has more files than the listed one.
        const hasMore = isPlaneUri(input.uri) || formatOfName(input.uri) === 'slide';
        const pin = hasMore ? version : pinOf(input);
        const bytes = channelBytes(size);
        this.#batched({ ...source, size, pin }, bytes, steps, known);
      }
    }
    if (steps.length > 0) yield steps;
  }

  /** The steps of what is left at the end: batches that are not full, and sources that are kept or cannot be read. */
  rest(): PlanStep[] {
    const batches = [this.#batches.flush(), this.#knownBatches.flush()];
    const steps = batches.flatMap((batch) => (batch ? this.#batch(batch) : []));
    return [...steps, ...asideSteps(this.#aside.flush()), ...this.#keptSteps(this.#kept.flush())];
  }

  #keptSteps(sources: PlannedSources | undefined): PlanStep[] {
    if (!sources) return [];
    const earlier = this.#earlier;
    this.#earlier = [];
    return [{ kind: 'sources', sources }, this.#shard({ kind: 'kept', sources, earlier }, 0)];
  }

  /** Gives the next source its number and its name, and chooses whether it may get a preview. */
  #number({ uri, name, sizeBytes, version, mask }: Input, frame?: number): NumberedSource {
    const index = this.#sources++;
    const source: NumberedSource = { index, uri, name: this.#names.next(name), sizeBytes };
    if (version !== undefined) source.version = version;
    if (mask) source.mask = mask;
    if (this.#previews.add(index, { uri, frame })) source.preview = true;
    return source;
  }

  /** Adds a source to a batch. A source that may get a preview needs pictures of all pipelines, so all compute it. */
  #batched(source: BlockSource, bytes: number, steps: PlanStep[], known?: Uint8Array): void {
    const isKnown = known !== undefined && !source.preview && known.length <= mostKnownBytes;
    const batches = isKnown ? this.#knownBatches : this.#batches;
    const closed = batches.add(isKnown ? { ...source, known } : source, bytes * this.#channels);
    if (closed) steps.push(...this.#batch(closed));
  }

  #batch({ sources, costBytes }: GatheredFrames): PlanStep[] {
    return this.#planned({ kind: 'frames', sources }, Math.max(costBytes, sources.count * this.#countsBytes));
  }

  /** The steps of a shard: its sources, and the shard. */
  #planned(work: ShardWork, costBytes: number): PlanStep[] {
    const aside = asideSteps(this.#aside.flush());
    return [...aside, { kind: 'sources', sources: work.sources }, this.#shard(work, costBytes)];
  }

  *#tiles(source: BlockSource): Generator<PlanStep[], void, undefined> {
    const { width, height, pixel = 'u8' } = source.size!;
    const size = { width, height };
    const sources = gatherSources([source]);
    yield [...asideSteps(this.#aside.flush()), { kind: 'sources', sources }];
    for (const rect of cutTiles(size, this.#tilePx)) {
      this.#signal?.throwIfAborted();
      const { stored, plans } = planPipelines(this.#pipelines, rect, size, this.#grid);
      const bytes = channelBytes({ ...stored, pixel }) * this.#channels;
      // The plans of all pipelines have the same cells.
      const cells = plans[0]!.parts.length / (this.#grid.rows * this.#grid.columns);
      yield [this.#shard({ kind: 'tile', sources, size, rect }, Math.max(bytes, cells * this.#countsBytes))];
    }
  }

  #shard(work: ShardWork, costBytes: number): PlanStep {
    const shard = { shard: this.#shards++, work, costBytes };
    return { kind: 'shard', shard: this.#dealer?.deal(shard) ?? shard };
  }
}

/** The step of sources that are set aside. */
const asideSteps = (sources: PlannedSources | undefined): PlanStep[] => (sources ? [{ kind: 'sources', sources }] : []);

/**
 * The version that nodes must find: one that is the same wherever the file is read. A bucket's listing gives its
 * objects another version than reading them does; a manifest states the version that reading gives.
 */
function pinOf({ uri, version, listedVersion = version, isStated }: Input): string | undefined {
  return /^(s3|gs|az):/.test(uri) && !isStated ? undefined : listedVersion;
}

/** The known counts of a frame, after the frames that were asked for before; undefined if they are too long. */
async function knownFrame(known: ReturnType<EarlierOutput['known']>, wanted: number): Promise<Uint8Array | undefined> {
  for (let next = await known.next(); next.value; next = await known.next()) {
    const { frame, known: bytes } = next.value;
    if (frame === wanted) return bytes.length <= mostKnownBytes ? bytes : undefined;
  }
  return undefined;
}

/** How many bins an image has in all pipelines together. */
function binsOfImage(pipelines: readonly Pipeline[], grid: Grid): number {
  return pipelines.reduce((sum, pipeline) => sum + binsOfSource(histogramShape(pipeline, grid)), 0);
}
