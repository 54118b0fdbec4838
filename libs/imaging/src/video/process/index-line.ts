import type { PixelType } from '@halogrid/geometry';
import type { VideoPacket } from '../video-frames.ts';
import type { Rational } from './ffmpeg.ts';

/** What listing a video's packets gives: first what it is, last how it ended. */
export type IndexLine =
  | {
      kind: 'video';
      width: number;
      height: number;
      pixel: PixelType;
      /** Null where the container does not say what the times of its packets mean. */
      timeBase: Rational | null;
      /** Frames that a decoder holds back to put them in order. */
      delay: number;
    }
  | { kind: 'packets'; packets: VideoPacket[] }
  | {
      kind: 'unreached' /** The first packet of a group that cannot be sought; comes before those of the next. */;
      packet: number;
    }
  | {
      kind: 'end' /** Frames that the file should hold behind those listed, and why it does not. */;
      missing: number;
      why: string;
    };
