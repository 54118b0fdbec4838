import type { PixelType } from '@halogrid/geometry';
import type { VideoPacket } from '../video-frames.ts';
import type { Rational } from './ffmpeg.ts';

/** A line of a video's index. The first tells what the video is, the last how it ends. */
export type IndexLine =
  | {
      kind: 'video';
      width: number;
      height: number;
      pixel: PixelType;
      /** Null if the container does not say what the times of its packets mean. */
      timeBase: Rational | null;
      /** Frames that a decoder holds back to put them in order. */
      delay: number;
    }
  | { kind: 'packets'; packets: VideoPacket[] }
  | {
      kind: 'unreached';
      /** The first packet of a group that cannot be sought; comes before the packets of the next group. */
      packet: number;
    }
  | {
      kind: 'end';
      /** The number of frames that the file should hold behind the listed ones. */
      missing: number;
      /** Why it does not hold them. */
      why: string;
    };
