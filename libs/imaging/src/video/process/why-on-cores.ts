import type { VideoPacket } from '../video-frames.ts';
import type { NvdecCaps } from './nvdec-structs.ts';
import type { SegmentRequest } from './segment-request.ts';

/** A video that hardware may decode, as FFmpeg describes it. */
export interface HardwareCandidate {
  width: number;
  height: number;
  /** FFmpeg's name of the pixel format. */
  pixels: string;
  /** Whether its parameter sets have replaced the container's. */
  hasNewSets: boolean;
  /** The packet that decoding begins with, as it was read: only the reader knows whether it is clean. */
  first: Pick<VideoPacket, 'isClean'>;
}

/** Formats of 8 bits in 4:2:0. */
const formats = ['yuv420p', 'yuvj420p'];

/** Why cores have to decode a segment of a codec that hardware supports; undefined if hardware may. */
export function whyOnCores(
  caps: NvdecCaps,
  { width, height, pixels, hasNewSets, first }: HardwareCandidate,
  { start, strictFrom, wanted, channels }: Pick<SegmentRequest, 'start' | 'strictFrom' | 'wanted' | 'channels'>,
): string | undefined {
  if (channels === 'rgb') return 'colours are made by cores';
  if (!formats.includes(pixels)) return `it is for ${formats[0]}, and this is ${pixels}`;
  const blocks = Math.ceil(width / 16) * Math.ceil(height / 16);
  const isTooSmall = width < caps.minWidth || height < caps.minHeight;
  const isTooLarge = width > caps.maxWidth || height > caps.maxHeight || blocks > caps.maxBlocks;
  if (!caps.isSupported || isTooSmall || isTooLarge) return `it does not take ${width} x ${height} pixels`;
  if (hasNewSets) return 'its parameter sets change';
  const isAlone = first.isClean && strictFrom <= start.packet && wanted.every(({ order }) => order === undefined);
  return isAlone ? undefined : 'a segment does not stand alone, or its packets have no times';
}
