import type { PlaneTarget } from '../../planes/plane-target.ts';
import type { VideoFrame, VideoPacket } from '../video-frames.ts';

/** Part of a video to decode. */
export interface SegmentRequest {
  /** The key frame with which decoding begins. */
  start: VideoPacket;
  /**
   * Packets before this one are decoded as well as that goes, and what is wrong with them is passed over: it is what
   * comes of beginning in the middle.
   */
  strictFrom: number;
  /** One more than the number of the last packet that is needed. */
  end: number;
  /** The frames that are wanted of what is decoded. */
  wanted: Pick<VideoFrame, 'packet' | 'order'>[];
  /** "cuda": the engines of an NVIDIA card; others: a method of FFmpeg's; empty: none. */
  hwaccel: string;
  /** What is wanted of them; gray unless given. */
  channels?: PlaneTarget['channels'];
  /**
   * Samples that a device has before those of a row, where luma is to lie as the device wants it: rows as far apart as
   * the next multiple of 16 samples. Without it there are no gaps.
   */
  lead?: number;
  /**
   * Whether luma of 8 bits comes as it was decoded, with its range said and rows as far apart as it has them: a device
   * makes gray of it.
   */
  asDecoded?: boolean;
  /**
   * Whether a device decodes: frames of MJPEG come as the JPEGs that they are, but for those that cores alone can tell
   * what they are, which do not come at all.
   */
  encoded?: boolean;
}

/** Engines that there are, and whether they decode the segment. */
export interface HardwareFound {
  engines: number;
  isUsed: boolean;
}
