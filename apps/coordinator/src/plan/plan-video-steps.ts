import { sampleBytes } from '@halogrid/geometry';
import { MissingDecoderError, NoChosenFrame, type PlannedFrame, planVideo, type VideoSegment } from '@halogrid/imaging';
import type { FrameOfVideo, ImageSize, PlanStep, ShardWork } from '@halogrid/jobs/shard';
import { SourceGatherer } from '@halogrid/jobs/source-gatherer';
import type { VideoOptions } from '@halogrid/proto';
import type { Source } from '@halogrid/sources';
import { InputError } from '@halogrid/sources';
import type { BlockSource } from '@halogrid/sources/source-block';

/**
 * How many frames a segment should have, unless the job says it: starting a decoder takes a tenth of a second, as long
 * as some tens of frames.
 */
export const defaultSegmentFrames = 128;

/** A source with its number and its name. */
export type NumberedSource = Pick<BlockSource, 'index' | 'uri' | 'name' | 'sizeBytes' | 'version' | 'preview' | 'mask'>;

export interface VideoPlanning {
  video: VideoOptions | undefined;
  /** How many frames a segment should have; 0: `defaultSegmentFrames`. */
  batchFrames: number;
  /** Channels of a frame: 1, or 3 for colour. */
  channels: number;
  /**
   * The most frames of a shard; and the most decoded bytes that it counts as, because a node holds no more of a segment
   * at once.
   */
  maxFrames: number;
  maxBytes: number;
  /** Bytes of a frame's counts. */
  countsBytes: number;
  /** Called with the frames of a segment before they become sources. */
  expect: (frames: readonly number[]) => void;
  /** Makes the next source, with that name and frame; each call takes a number. */
  number: (name: string, frame?: number) => NumberedSource;
  /** The known counts of a frame; to be called in the order of frames. */
  known?: ((frame: number) => Promise<Uint8Array | undefined>) | undefined;
  /** Sets a source aside, and returns the steps that follow from it. */
  setAside: (source: BlockSource) => PlanStep[];
  /** Called if the video has no frame in the chosen time. */
  leaveOut: () => void;
  /** The steps of the next shard and its sources. */
  shard: (work: ShardWork, costBytes: number) => PlanStep[];
}

/**
 * The steps of a video: a source for each frame, and a shard for each segment. Frames that cannot be read are
 * quarantined one by one, or the video as a whole if its frames are not known. A video without a chosen frame has no
 * steps.
 */
export async function* planVideoSteps(
  { uri, name }: Source,
  planning: VideoPlanning,
  plan: typeof planVideo = planVideo,
): AsyncGenerator<PlanStep[], void, undefined> {
  const { video, batchFrames, channels, maxFrames, maxBytes, countsBytes, expect, number, setAside, shard } = planning;
  const { known: knownOf } = planning;
  const aim = Math.min(batchFrames || defaultSegmentFrames, maxFrames);
  const frameSource = ({ frame, timestampMs }: FrameOfVideo): BlockSource => {
    return { ...number(nameOfFrame(name, frame), frame), video: { frame, timestampMs } };
  };
  let size: ImageSize = { width: 0, height: 0 };
  let frameBytes = 0;
  try {
    for await (const part of plan(uri, choiceOf(video), () => ({ aim, most: maxFrames }))) {
      if (part.kind === 'video') {
        const { width, height, pixel } = part;
        size = { width, height, pixel };
        frameBytes = width * height * sampleBytes[pixel] * channels;
      } else if (part.kind === 'missing') {
        const error = { stage: 'read', error: part.why };
        for (const frame of part.frames) yield setAside({ ...frameSource(frame), error });
      } else {
        const { segment } = part;
        const sources = new SourceGatherer();
        expect(segment.frames.map(({ frame }) => frame));
        for (const frame of segment.frames) {
          const source = { ...frameSource(frame), place: placeOf(frame), size };
          const known = source.preview || sources.isLong ? undefined : await knownOf?.(frame.frame);
          sources.add(known ? { ...source, known } : source);
        }
        const frames = segment.frames.length;
        const costBytes = Math.max(Math.min(frames * frameBytes, maxBytes), frames * countsBytes);
        const work = {
          kind: 'frames' as const,
          sources: sources.end(),
          segment: toWire(segment, video?.hwaccel ?? ''),
        };
        yield shard(work, costBytes);
      }
    }
  } catch (error) {
    if (error instanceof NoChosenFrame) return planning.leaveOut();
    // Without FFmpeg, only the videos of a job are quarantined: its other inputs do not need it.
    const stage =
      error instanceof InputError ? error.stage : error instanceof MissingDecoderError ? 'decode' : undefined;
    if (stage === undefined) throw error;
    yield setAside({ ...number(name), error: { stage, error: (error as Error).message } });
  }
}

function choiceOf(video: VideoOptions | undefined) {
  const { every, fromMs, toMs, fpsNum, fpsDen } = video ?? { every: 0, fpsNum: 0, fpsDen: 0 };
  return { every: every || 1, fromMs, toMs, fps: fpsNum ? { num: fpsNum, den: fpsDen } : undefined };
}

/** The name of a frame of the video with that name. */
export function nameOfFrame(video: string, frame: number): string {
  return `${video.replace(/\.[^./]*$/, '')}/${String(frame).padStart(6, '0')}`;
}

const placeOf = ({ packet, order }: PlannedFrame) => (order === undefined ? { packet } : { packet, order });

function toWire({ start, strictFrom, end, version }: VideoSegment, hwaccel: string) {
  const { packet, pts, dts, position, size } = start;
  return { packet, pts: pts ?? undefined, dts: dts ?? undefined, position, size, strictFrom, end, version, hwaccel };
}
