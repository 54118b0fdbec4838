import type { DecodedPicture, SegmentDecoder, SegmentRequest, VideoFile } from '@halogrid/imaging';
import type { VideoSegment } from '@halogrid/proto';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import type { AskedFrame } from './asked-frame.ts';
import type { FrameOutcomes } from './frame-outcomes.ts';
import { needsPreview } from './shard-job.ts';
import type { ShardRun } from './shard-run.ts';
import { sourceError } from './source-errors.ts';

/** The requested frames of a segment of a video, as a decoder gives them. */
export class SegmentFrames {
  readonly decoder: SegmentDecoder;
  /** When the video was made, as its container says. */
  captured: CaptureTime | undefined;
  /** Bytes that the decoder read, once it has ended. */
  inputBytes = 0;
  readonly #run: ShardRun;
  readonly #frames: readonly AskedFrame[];
  #isOver = false;
  /** Why frames could not be decoded, by their index among the requested ones. */
  readonly #bad = new Map<number, string>();

  constructor(run: ShardRun, frames: readonly AskedFrame[], decoder: SegmentDecoder) {
    this.#run = run;
    this.#frames = frames;
    this.decoder = decoder;
  }

  /** Waits for the next frame, and counts the time as `stage`; undefined once the decoder has ended. */
  async next(stage: 'read' | 'decode'): Promise<DecodedPicture | undefined> {
    while (!this.#isOver) {
      const event = await this.#run.turn.clock.time(stage, () => this.decoder.next());
      switch (event.kind) {
        case 'frame':
          return event;
        case 'bad':
          this.refuse(event.position, event.error);
          break;
        case 'created':
          this.captured = { localMs: event.ms, offsetMinutes: 0 };
          break;
        case 'note':
          this.#run.means.note(event.line);
          break;
        case 'end':
          this.inputBytes = event.inputBytes;
          this.#isOver = true;
      }
    }
    return undefined;
  }

  /** Marks the frame at this index among the requested ones as not usable. */
  refuse(place: number, why: string): void {
    this.#bad.set(place, why);
  }

  /** Puts the outcomes of unusable frames to their positions in the lease. */
  putRefused(outcomes: FrameOutcomes): void {
    for (const [place, why] of this.#bad) {
      const { source, position } = this.#frames[place]!;
      outcomes.fail(position, sourceError(source, 'decode', why));
    }
  }
}

/** The order for a decoder. A preview shows gray, made from the decoder's frames. */
export function requestOf(
  { job: { channels }, means: { device } }: ShardRun,
  frames: readonly AskedFrame[],
  segment: VideoSegment,
): SegmentRequest {
  const hasPreviews = frames.some(({ source }) => needsPreview(source));
  const asDecoded = device.takesLimited === true && channels === 'gray' && !hasPreviews;
  const { packet, pts = null, dts = null, position, size, strictFrom, end, hwaccel } = segment;
  const start = { packet, pts, dts, position, size, isKey: true, isClean: false, isHidden: false };
  const wanted = frames.map(({ source }) => source.place!);
  return { start, strictFrom, end, wanted, hwaccel, channels, asDecoded };
}

/**
 * Has `use` take the frames of a segment from a decoder. The decoder is closed afterwards, or as soon as the shard is
 * aborted.
 */
export async function withSegment<T>(
  run: ShardRun,
  frames: readonly AskedFrame[],
  file: VideoFile,
  request: SegmentRequest,
  use: (segment: SegmentFrames) => Promise<T>,
): Promise<T> {
  const { signal } = run.turn;
  const decoder = await run.means.decoders.decode(file, request, signal);
  const abort = () => void decoder.close();
  signal.addEventListener('abort', abort);
  try {
    return await use(new SegmentFrames(run, frames, decoder));
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
    await decoder.close();
  }
}
