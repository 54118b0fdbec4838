import type { PixelType, Size } from '@halogrid/geometry';
import type { PlaneTarget } from '../planes/plane-target.ts';
import { planVideo, type VideoSegment } from './plan-video.ts';
import { SegmentDecoder } from './segment-decoder.ts';
import { changedVideo, openVideoFile, type VideoFile } from './video-file.ts';

/** A frame of a video. */
export interface DecodedFrame extends Size {
  /** Its number in the video. */
  frame: number;
  pixel: PixelType;
  /** Rows and planes without gaps, two bytes a sample of `u16`. */
  pixels: Uint8Array;
}

/**
 * Decodes frames of a video by their numbers, in the video's order. Each group of frames is decoded only up to the last
 * wanted frame in it. Frames that are bad or missing are left out. Rejects with InputError.
 */
export async function* readFrames(
  uri: string,
  wanted: ReadonlySet<number>,
  channels: PlaneTarget['channels'] = 'gray',
): AsyncGenerator<DecodedFrame> {
  const segments: VideoSegment[] = [];
  let missing = wanted.size;
  for await (const part of planVideo(uri, {}, () => ({ aim: 1, most: Number.POSITIVE_INFINITY }))) {
    if (part.kind !== 'segment') continue;
    const frames = part.segment.frames.filter(({ frame }) => wanted.has(frame));
    if (frames.length > 0) segments.push({ ...part.segment, frames });
    missing -= frames.length;
    if (missing === 0) break;
  }
  const file = await openVideoFile(uri, segments[0]?.version);
  try {
    for (const segment of segments) {
      if (segment.version !== file.version) throw changedVideo();
      yield* decode(file, segment, channels);
    }
  } finally {
    file.close();
  }
}

async function* decode(
  file: VideoFile,
  { start, strictFrom, end, frames }: VideoSegment,
  channels: PlaneTarget['channels'],
): AsyncGenerator<DecodedFrame> {
  const decoder = new SegmentDecoder(file, { start, strictFrom, end, wanted: frames, hwaccel: '', channels });
  try {
    for (let event = await decoder.next(); event.kind !== 'end'; event = await decoder.next()) {
      if (event.kind !== 'frame') continue;
      const { position, width, height, pixel, planes } = event;
      const stride = width * (pixel === 'u8' ? 1 : 2);
      const planeBytes = stride * height;
      const pixels = new Uint8Array(planes * planeBytes);
      await decoder.luma(event, { bytes: pixels, offset: 0, stride, channels, planeBytes });
      yield { frame: frames[position]!.frame, width, height, pixel, pixels };
    }
  } finally {
    await decoder.close();
  }
}
