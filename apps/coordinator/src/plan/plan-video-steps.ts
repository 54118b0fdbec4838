import { sampleBytes } from '@halogrid/geometry';
import { MissingDecoderError, type PlannedFrame, planVideo, type VideoSegment } from '@halogrid/imaging';
import type { FrameOfVideo, ImageSize, PlanStep, ShardWork } from '@halogrid/jobs/shard';
import { SourceGatherer } from '@halogrid/jobs/source-gatherer';
import type { VideoOptions } from '@halogrid/proto';
import type { Source } from '@halogrid/sources';
import { InputError } from '@halogrid/sources';
import type { BlockSource } from '@halogrid/sources/source-block';

/** Frames of a segment at least: starting a decoder takes a tenth of a second, which is some tens of frames. */
export const defaultSegmentFrames = 128;

/** What the plan gives every source. */
export type NumberedSource = Pick<BlockSource, 'index' | 'uri' | 'name' | 'sizeBytes' | 'version' | 'preview'>;

export interface VideoPlanning {
  video: VideoOptions | undefined;
  /** Frames that a segment should have; 0: chosen. */
  batchFrames: number;
  /** Channels of a frame: 1, or 3 of colour. */
  channels: number;
  /** Frames of a shard, and its decoded bytes, at most. A node holds no more of a longer segment at once. */
  maxFrames: number;
  maxBytes: number;
  /** Bytes of the counts of a frame. */
  countsBytes: number;
  /** Told of the frames of a segment before they become sources. */
  expect: (frames: readonly number[]) => void;
  /** The next source, of that name, which is that frame; each call takes a number. */
  number: (name: string, frame?: number) => NumberedSource;
  /** What is known of that frame; to be asked in the order of frames. */
  known?: ((frame: number) => Promise<Uint8Array | undefined>) | undefined;
  /** The steps that follow once a source is set aside. */
  setAside: (source: BlockSource) => PlanStep[];
  /** The steps of the next shard and its sources. */
  shard: (work: ShardWork, costBytes: number) => PlanStep[];
}

/**
 * The part of a job's plan that a video makes: a source a frame, and a shard a segment. What of the video cannot be
 * read is quarantined, by frame where its frames are known.
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
    // Without FFmpeg nobody plans a video, and the other inputs of the job need none.
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

/** The name of a source that is a frame of a video of that name. */
export function nameOfFrame(video: string, frame: number): string {
  return `${video.replace(/\.[^./]*$/, '')}/${String(frame).padStart(6, '0')}`;
}

const placeOf = ({ packet, order }: PlannedFrame) => (order === undefined ? { packet } : { packet, order });

function toWire({ start, strictFrom, end, version }: VideoSegment, hwaccel: string) {
  const { packet, pts, dts, position, size } = start;
  return { packet, pts: pts ?? undefined, dts: dts ?? undefined, position, size, strictFrom, end, version, hwaccel };
}
