import type { PixelType } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources';
import { type FrameChoice, frameTest, needsTimes, ticksToMs } from './choose-frames.ts';
import { withTurns } from './frame-turns.ts';
import { indexVideo } from './index-video.ts';
import type { Rational } from './process/ffmpeg.ts';
import type { IndexLine } from './process/index-line.ts';
import type { SegmentRequest } from './process/segment-request.ts';
import { openVideoFile } from './video-file.ts';
import {
  beginOf,
  framesOf,
  groupPackets,
  groupsBefore,
  type VideoFrame,
  type VideoPacket,
  withoutLeading,
} from './video-frames.ts';

/** A frame that is wanted of a video. */
export interface PlannedFrame extends Pick<VideoFrame, 'frame' | 'packet' | 'order'> {
  /** Time since the first frame; null if the container does not state it. */
  timestampMs: number | null;
}

/** Frames that are decoded together, and the packets where decoding begins and ends. */
export interface VideoSegment extends Pick<SegmentRequest, 'start' | 'strictFrom' | 'end'> {
  frames: PlannedFrame[];
  /** The version of the file when it was planned; see VideoFile. */
  version: string;
}

/**
 * Numbers of frames. A segment takes whole groups until it has `aim` frames, and never has more than `most`. If groups
 * are open, it also has the frames of the next group that are shown before its key frame: they are decoded from packets
 * that the segment has read, and the next segment begins with that key frame. If they were in the next segment, it
 * would have to decode the group before as well: of an H.265 recording with a key frame every 50, every third frame was
 * then decoded twice (measured).
 */
export interface SegmentLength {
  aim: number;
  most: number;
}

export type VideoPart =
  /** Comes first. Size and type of pixels are what the container states; each frame has its own. */
  | { kind: 'video'; width: number; height: number; pixel: PixelType }
  | { kind: 'segment'; segment: VideoSegment }
  /** Frames that the file should hold but does not, and why. */
  | { kind: 'missing'; frames: { frame: number; timestampMs: null }[]; why: string };

/** Thrown for a video without a frame in the chosen time: no fault of the video. */
export class NoChosenFrame extends InputError {
  constructor() {
    super('read', 'No frame of the video is in the chosen time');
  }
}

/**
 * Cuts a video into segments at its key frames, from its packets alone: nothing is decoded. Only the segment being
 * filled is held. `lengthOf` is called for each group. Rejects with InputError: with NoChosenFrame if
 * no frame is in the chosen time.
 */
export async function* planVideo(
  uri: string,
  choice: FrameChoice,
  lengthOf: () => SegmentLength,
  index: typeof indexVideo = indexVideo,
): AsyncGenerator<VideoPart, void, undefined> {
  const file = await openVideoFile(uri);
  const { version } = file;
  const lines = index(file);
  try {
    const head = (await lines.next()).value as IndexLine | undefined;
    if (head?.kind !== 'video') throw new InputError('decode', 'The video has no frames');
    const { width, height, pixel, timeBase, delay } = head;
    yield { kind: 'video', width, height, pixel };
    let end: Extract<IndexLine, { kind: 'end' }> | undefined;
    const cutter = new SegmentCutter({ choice, timeBase, version, lengthOf });
    async function* packets(): AsyncGenerator<VideoPacket> {
      for await (const line of lines) {
        if (line.kind === 'packets') yield* line.packets;
        else if (line.kind === 'unreached') cutter.cannotSeek(line.packet);
        else if (line.kind === 'end') end = line;
      }
    }
    let chosen = 0;
    for await (const group of groupPackets(withTurns(packets(), delay))) {
      for (const segment of cutter.add(group)) {
        chosen += segment.frames.length;
        yield { kind: 'segment', segment };
      }
    }
    for (const segment of cutter.rest()) {
      chosen += segment.frames.length;
      yield { kind: 'segment', segment };
    }
    const lost = end?.missing ?? 0;
    const byTime = needsTimes(choice);
    if (lost > 0 && byTime && cutter.lastMs < (choice.toMs ?? Number.POSITIVE_INFINITY)) {
      throw new InputError('read', mayLack(lost));
    }
    const missing = Array.from({ length: byTime ? 0 : lost }, (_, i) => cutter.frames + i)
      .filter((frame) => frame % (choice.every ?? 1) === 0)
      .map((frame) => ({ frame, timestampMs: null }));
    if (missing.length > 0) yield { kind: 'missing', frames: missing, why: end!.why };
    else if (chosen === 0) throw byTime ? new NoChosenFrame() : new InputError('read', 'The video shows no frame');
  } finally {
    await lines.return();
    file.close();
  }
}

const withoutTimes =
  'Frames of the video have no times, which --from, --to and --fps go by; --every goes by their numbers';

const mayLack = (lost: number): string =>
  `The file ends before its last frames (${lost} or more); --from, --to and --fps may choose some of them`;

interface CutterOptions {
  choice: FrameChoice;
  /** Null if the times of packets mean nothing. */
  timeBase: Rational | null;
  version: string;
  lengthOf: () => SegmentLength;
}

/**
 * So many packets that need not be decoded are worth another segment: opening one takes as long as decoding a few
 * (measured).
 */
const leastSkipped = 32;

/** Puts groups of frames into segments. */
class SegmentCutter {
  /** Frames that were numbered so far. */
  frames = 0;
  /** The latest time of a frame so far. */
  lastMs = Number.NEGATIVE_INFINITY;
  readonly #options: CutterOptions;
  readonly #isChosen: (frame: VideoFrame) => boolean;
  #startTicks: number | undefined;
  /** First packets of the last groups. */
  #before: VideoPacket[] = [];
  /**
   * Numbers of the first packets of groups that seeking does not lead to, from the earliest that a segment may still
   * begin with.
   */
  #unreached: number[] = [];
  #open: VideoSegment | undefined;
  /** Whether a group had frames that are shown before its key frame; the next may have some as well. */
  #areGroupsOpen = false;

  constructor(options: CutterOptions) {
    this.#options = options;
    // If times mean nothing, a choice that needs them is refused at the first frame.
    this.#isChosen = frameTest(options.choice, options.timeBase ?? { num: 0, den: 1 });
  }

  /**
   * Says of a group that will be added, and begins with this packet, that it must be read from the beginning of the
   * file.
   */
  cannotSeek(packet: number): void {
    this.#unreached.push(packet);
  }

  *add(packets: VideoPacket[]): Generator<VideoSegment> {
    const { choice, timeBase, version, lengthOf } = this.#options;
    const group = framesOf(packets, this.frames, this.#startTicks);
    this.frames += group.frames.length;
    this.#startTicks ??= group.startTicks;
    const { aim, most } = lengthOf();
    const forLeading = beginOf(group, this.#before);
    const forOthers = group.leading > 0 ? beginOf(withoutLeading(group), this.#before) : forLeading;
    for (const [i, frame] of group.frames.entries()) {
      const begin = i < group.leading ? forLeading : forOthers;
      if (i === group.leading && this.#isFull(aim)) yield* this.rest();
      const { ticks, ...place } = frame;
      const timestampMs = ticks === undefined || !timeBase ? null : ticksToMs(ticks, timeBase);
      if (timestampMs === null && needsTimes(choice)) throw new InputError('read', withoutTimes);
      this.lastMs = Math.max(this.lastMs, timestampMs ?? this.lastMs);
      if (!this.#isChosen(frame)) continue;
      if (this.#open && this.#open.frames.length >= most) yield* this.rest();
      if (this.#open && this.#isWorthSkipping(this.#open.end, begin.start)) yield* this.rest();
      this.#open ??= { ...begin, end: 0, frames: [], version };
      this.#open.frames.push({ ...place, timestampMs });
      // Packets behind a frame are not needed to decode it. But a frame that is found by its order in the group may
      // move if they are missing.
      const end = frame.order === undefined ? frame.packet + 1 : group.end;
      this.#open.end = Math.max(this.#open.end, end);
    }
    this.#before = [...this.#before, group.first].slice(-groupsBefore);
    // Behind the last frame that can be chosen, the segment is given out at once, so that it is decoded while the rest
    // is listed.
    const isBehind = choice.toMs !== undefined && this.lastMs >= choice.toMs;
    this.#areGroupsOpen ||= group.leading > 0;
    if (isBehind || (!this.#areGroupsOpen && this.#isFull(aim))) yield* this.rest();
    const earliest = Math.min(this.#before[0]!.packet, this.#open?.start.packet ?? Number.POSITIVE_INFINITY);
    this.#unreached = this.#unreached.filter((packet) => packet >= earliest);
  }

  *rest(): Generator<VideoSegment> {
    if (this.#open) yield this.#isSought(this.#open) ? this.#open : { ...this.#open, start: withoutPlace(this.#open) };
    this.#open = undefined;
  }

  /** Whether the open segment has as many frames as are aimed at. */
  #isFull(aim: number): boolean {
    return this.#open !== undefined && this.#open.frames.length >= aim;
  }

  /**
   * Whether packets that no frame needs lie between the end of a segment and the start of the next, enough to be
   * skipped.
   */
  #isWorthSkipping(end: number, start: VideoPacket): boolean {
    return start.packet - end >= leastSkipped && this.#unreached.length === 0;
  }

  #isSought({ start, end }: VideoSegment): boolean {
    return !this.#unreached.some((packet) => packet >= start.packet && packet < end);
  }
}

/** The start of a segment with its number alone: such a packet is not sought. */
const withoutPlace = ({ start }: VideoSegment): VideoPacket => ({ ...start, pts: null, dts: null, position: -1 });
