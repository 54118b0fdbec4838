import { type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import {
  changedVideo,
  type DecodedPicture,
  openVideoFile,
  type SegmentDecoder,
  type SegmentRequest,
  type VideoFile,
} from '@halogrid/imaging';
import { lanePixels, type SharedItem } from '@halogrid/kernels';
import type { VideoSegment } from '@halogrid/proto';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import type { WorkDone } from '../feed/work-rate.ts';
import { hasJpegs, RecordedJpegs } from './recorded-jpegs.ts';
import {
  emptyBatch,
  failedOutcomes,
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
import type { LeasedSource } from './unpack-lease.ts';

/** A frame in a batch's staging memory. */
interface ReadFrame {
  position: number;
  whole: Rect;
  item: SharedItem;
  mended: string | undefined;
}

/**
 * Computes frames of a video, which come from the decoder one after another, straight into staging memory; outcomes are in
 * the order of `sources`. A batch is read while the one before is computed.
 */
export async function runVideo(
  run: ShardRun,
  sources: readonly LeasedSource[],
  segment: VideoSegment,
): Promise<SourceOutcome[]> {
  const outcomes = new Array<SourceOutcome>(sources.length);
  try {
    await withVideo(run, sources[0]!.uri, segment.version, async (file) => {
      const bytes = await bytesForDevice(run, file, segment, sources.length);
      if (bytes !== undefined) {
        await run.jpegs!.decode(sources.length, bytes, {
          device: () => takeJpegs(run, file, sources, segment, outcomes),
          cores: async () => {
            await decodeLeft(run, file, sources, segment, outcomes);
            return { done: bytes };
          },
        });
      }
      await decodeLeft(run, file, sources, segment, outcomes);
    });
  } catch (error) {
    // What came before it is lost as well: who can tell whether it was of the same file.
    return await failedOutcomes(sources, error);
  }
  return outcomes;
}

/** Opens a video for `use`, and sees to it that it is what was planned until then. */
async function withVideo(
  run: ShardRun,
  uri: string,
  version: string,
  use: (file: VideoFile) => Promise<void>,
): Promise<void> {
  const file = await run.clock.time('read', () => openVideoFile(uri, version || undefined));
  try {
    // A coordinator that hands the file over looks after its version.
    if (version !== '' && file.version !== version) throw changedVideo();
    await use(file);
    await file.checkVersion();
  } finally {
    file.close();
  }
}

/** About how many bytes a device would decode of a segment of JPEGs; undefined where it may not. */
async function bytesForDevice(
  run: ShardRun,
  file: VideoFile,
  segment: VideoSegment,
  frames: number,
): Promise<number | undefined> {
  return run.jpegs?.isOn && (await hasJpegs(file, segment)) ? frames * segment.size : undefined;
}

/** Has the device decode JPEGs of a segment; sources that it leaves have no outcome, like those with a preview, which shows their pixels. */
async function takeJpegs(
  run: ShardRun,
  file: VideoFile,
  sources: readonly LeasedSource[],
  segment: VideoSegment,
  outcomes: SourceOutcome[],
): Promise<WorkDone> {
  const asked = sources.flatMap((source, position) => (needsPreview(source) ? [] : [{ source, position }]));
  if (asked.length === 0) return { done: 0 };
  const its = asked.map(({ source }) => source);
  const own = new Array<SourceOutcome>(asked.length);
  const request = { ...requestOf(run, its, segment), encoded: true, hwaccel: '', lead: undefined };
  const decoder = await run.decoders.decode(file, request, run.signal);
  const abort = () => void decoder.close();
  run.signal.addEventListener('abort', abort);
  try {
    const done = await run.meters.video.during(() => new RecordedJpegs(run, its, own).take(decoder));
    for (const [i, { position }] of asked.entries()) if (own[i]) outcomes[position] = own[i];
    return done;
  } catch (error) {
    run.signal.throwIfAborted();
    throw error;
  } finally {
    run.signal.removeEventListener('abort', abort);
    await decoder.close();
  }
}

/** Has a decoder decode the frames that have no outcome. */
async function decodeLeft(
  run: ShardRun,
  file: VideoFile,
  sources: readonly LeasedSource[],
  segment: VideoSegment,
  outcomes: SourceOutcome[],
): Promise<void> {
  const left = sources.flatMap((source, position) => (outcomes[position] ? [] : [{ source, position }]));
  if (left.length === 0) return;
  const own = new Array<SourceOutcome>(left.length);
  const its = left.map(({ source }) => source);
  await new VideoRun(run, its, segment, own).run(file);
  for (const [i, { position }] of left.entries()) outcomes[position] = own[i]!;
}

/** A preview shows gray, and is made of what the decoder gives. */
function requestOf(run: ShardRun, sources: readonly LeasedSource[], segment: VideoSegment): SegmentRequest {
  const asDecoded = run.device.takesLimited === true && run.channels === 'gray' && !sources.some(needsPreview);
  const { packet, pts = null, dts = null, position, size, strictFrom, end, hwaccel } = segment;
  const start = { packet, pts, dts, position, size, isKey: true, isClean: false, isHidden: false };
  const wanted = sources.map(({ place }) => place!);
  return { start, strictFrom, end, wanted, hwaccel, channels: run.channels, lead: leadOf(run), asDecoded };
}

class VideoRun {
  readonly #run: ShardRun;
  readonly #sources: readonly LeasedSource[];
  readonly #segment: VideoSegment;
  readonly #outcomes: SourceOutcome[];
  /** Why frames count nothing, by position. */
  readonly #bad = new Map<number, string>();
  /** When the video was made, as its container says. */
  #captured: CaptureTime | undefined;
  #decoder!: SegmentDecoder;
  #next: DecodedPicture | undefined;
  /** Whether the decoder has nothing more to say. */
  #isOver = false;

  constructor(run: ShardRun, sources: readonly LeasedSource[], segment: VideoSegment, outcomes: SourceOutcome[]) {
    this.#run = run;
    this.#sources = sources;
    this.#segment = segment;
    this.#outcomes = outcomes;
  }

  async run(file: VideoFile): Promise<void> {
    await this.#runSegment(file);
    for (const [i, error] of this.#bad) this.#outcomes[i] = sourceError(this.#sources[i]!, 'decode', error);
  }

  async #runSegment(file: VideoFile): Promise<void> {
    const request = requestOf(this.#run, this.#sources, this.#segment);
    await this.#run.meters.video.during(() => this.#decodeSegment(file, request));
  }

  async #decodeSegment(file: VideoFile, request: SegmentRequest): Promise<void> {
    this.#decoder = await this.#run.decoders.decode(file, request, this.#run.signal);
    const abort = () => void this.#decoder.close();
    this.#run.signal.addEventListener('abort', abort);
    const running: Promise<void>[] = [];
    try {
      this.#run.signal.throwIfAborted();
      for (;;) {
        if (!this.#next) await this.#advance();
        if (!this.#next) break;
        this.#run.signal.throwIfAborted();
        const { done } = await this.#startBatch();
        running.push(done);
        await running.at(-2);
      }
    } catch (error) {
      this.#run.signal.throwIfAborted();
      throw error;
    } finally {
      this.#run.signal.removeEventListener('abort', abort);
      await this.#decoder.close();
      await Promise.allSettled(running);
    }
    await settleAll(running);
  }

  /** Reads what comes before the next frame, and that it comes. */
  async #advance(): Promise<void> {
    while (!this.#isOver) {
      const event = await this.#run.clock.time('decode', () => this.#decoder.next());
      if (event.kind === 'end') {
        this.#run.inputBytes += event.inputBytes;
        this.#isOver = true;
        return;
      }
      if (event.kind === 'bad') this.#bad.set(event.position, event.error);
      else if (event.kind === 'created') this.#captured = { localMs: event.ms, offsetMinutes: 0 };
      else if (event.kind === 'note') this.#run.note(event.line);
      else {
        const why = tooSmall(event, this.#run) ?? this.#tooLarge(event);
        if (!why) {
          this.#next = event;
          return;
        }
        this.#bad.set(event.position, why);
      }
    }
  }

  #tooLarge(frame: DecodedPicture): string | undefined {
    const { maxStagingBytes } = this.#run.device;
    if (emptyBatch(this.#run, frame.pixel).add(this.#plan(frame), true, [], strideOf(frame))) return undefined;
    return `${frame.width} x ${frame.height} pixels and their results are more than the device takes at once (${maxStagingBytes} bytes)`;
  }

  #plan({ width, height }: Size) {
    const whole = { x: 0, y: 0, width, height };
    return planTile(this.#run, whole, whole);
  }

  /**
   * Takes frames of one size, type and range that the decoder has given, of all or none of which a dense result is wanted, as many as a batch
   * holds; resolves with the rest of what is done with them. Staging memory is held only while they are copied, so that more segments
   * than the device has batches are decoded at the same time.
   */
  async #startBatch(): Promise<{ done: Promise<void> }> {
    const { width, height, pixel, isLimited, position: first } = this.#next!;
    const stride = strideOf(this.#next!);
    const whole = { x: 0, y: 0, width, height };
    const plan = this.#plan(whole);
    const batch = emptyBatch(this.#run, pixel, { isLimited });
    const left = this.#sources.slice(first);
    const withMap = needsMap(this.#run, left[0]!);
    const samplings = samplingsOf(this.#run, whole, whole);
    const places: SharedItem[] = [];
    const { batchBytes } = this.#run.device;
    const mostFrames = Math.max(
      1,
      Math.floor((batchBytes * this.#run.batchShare) / (width * height * sampleBytes[pixel])),
    );
    const ready = await this.#run.clock.time('decode', () => this.#decoder.ready(mostFrames));
    for (const source of left.slice(0, ready)) {
      if (needsMap(this.#run, source) !== withMap) break;
      const item = batch.add(plan, withMap, samplings, stride);
      if (!item) break;
      places.push(item);
    }
    const frames: ReadFrame[] = [];
    const filled = Promise.withResolvers<void>();
    const fill = async (bytes: Uint8Array): Promise<SharedItem[]> => {
      try {
        for (const item of places) {
          if (!this.#next) await this.#advance();
          const next = this.#next;
          if (!next || next.width !== width || next.height !== height || next.pixel !== pixel) break;
          if (next.isLimited !== isLimited) break;
          const source = this.#sources[next.position]!;
          if (needsMap(this.#run, source) !== withMap) break;
          const { offset, stride, planeBytes } = item;
          const target = { bytes, offset, stride, channels: this.#run.channels, planeBytes };
          await this.#run.clock.time('decode', () => this.#decoder.luma(next, target));
          await writeSourceChunk(this.#run, source, { size: whole, rect: whole, pixel }, bytes, item);
          frames.push({ position: next.position, whole, item, mended: next.mended });
          this.#next = undefined;
          this.#run.signal.throwIfAborted();
        }
        filled.resolve();
      } catch (error) {
        filled.reject(error);
        throw error;
      }
      return frames.map(({ item }) => item);
    };
    const isRead = left.slice(0, places.length).some(needsPreview);
    const compute = runOnDevice(this.#run, batch, fill, isRead);
    compute.catch((error) => filled.reject(error));
    await filled.promise;
    const done = this.#finish(frames, compute);
    done.catch(() => {});
    return { done };
  }

  async #finish(frames: readonly ReadFrame[], compute: ReturnType<typeof runOnDevice>): Promise<void> {
    const { items, release } = await compute;
    const write = () =>
      settleAll(
        frames.map(({ position, whole }, i) =>
          writeChunks(this.#run, this.#sources[position]!, whole, whole, items[i]!),
        ),
      );
    await this.#run.clock.time('encode', write).finally(release);
    for (const [i, { position, whole, mended }] of frames.entries()) {
      const source = this.#sources[position]!;
      this.#outcomes[position] = sourceOutcome(source, whole, whole, items[i]!, this.#captured, mended);
    }
  }
}

/** Bytes from a row to the next in staging memory where that is what the decoder has, so that a frame is copied in one go. */
const strideOf = ({ stride, pixel }: DecodedPicture): number | undefined =>
  stride % (lanePixels * sampleBytes[pixel]) === 0 ? stride : undefined;

/** A side that no kernel is too large for. */
const largeSide = 4096;

/** Samples that lie before those of a row in staging memory, by where a large frame would be put. */
function leadOf(run: ShardRun): number {
  const whole = { x: 0, y: 0, width: largeSide, height: largeSide };
  return emptyBatch(run, 'u8').add(planTile(run, whole, whole), false)?.offset ?? 0;
}
