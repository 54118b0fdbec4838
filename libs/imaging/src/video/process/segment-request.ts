import type { PlaneTarget } from '../../planes/plane-target.ts';
import type { VideoFrame, VideoPacket } from '../video-frames.ts';

/** Part of a video to decode. */
export interface SegmentRequest {
  /** The key frame with which decoding begins. */
  start: VideoPacket;
  /** Faults in packets before this one are ignored, because they come from beginning in the middle. */
  strictFrom: number;
  /** One more than the number of the last packet that is needed. */
  end: number;
  /** The frames to give, out of all that are decoded. */
  wanted: Pick<VideoFrame, 'packet' | 'order'>[];
  /** "cuda": the engines of an NVIDIA card; another name: that method of FFmpeg's; empty: no hardware. */
  hwaccel: string;
  /** The channels of frames to give; gray unless given. */
  channels?: PlaneTarget['channels'];
  /**
   * The number of samples that a device has before each row. If it is given, rows of luma lie as the device wants them:
   * as far apart as the next multiple of 16 samples. Without it, there are no gaps between rows.
   */
  lead?: number;
  /**
   * Whether luma of 8 bits comes as it was decoded, with its range and the decoder's distance between rows: a device
   * makes gray of it.
   */
  asDecoded?: boolean;
  /** Whether a device decodes: frames of MJPEG come as JPEGs. Frames that only cores can decode do not come at all. */
  encoded?: boolean;
}

/** How many engines there are, and whether they decode the segment. */
export interface HardwareFound {
  engines: number;
  isUsed: boolean;
}
