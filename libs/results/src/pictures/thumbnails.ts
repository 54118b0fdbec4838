import { type PixelType, type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import { openImage, type ReadOptions, readFrames } from '@halogrid/imaging';
import { loadSharp } from '@halogrid/imaging/sharp';
import { InputError } from '@halogrid/sources';
import { pngOptions } from './encodings.ts';
import { decodeShown, shownOf } from './shown-pixels.ts';

/** An image, or a frame of a video by its number. */
export interface ShownSource {
  uri: string;
  videoFrame?: number | undefined;
  /** What a job reads of images; absent: their gray or colours, as they are stored. */
  read?: ReadOptions | undefined;
}

/** A small picture as a PNG. */
export interface Thumbnail extends Size {
  png: Buffer;
  /** Size in pixels of the image, frame or part that it shows. */
  of: Size;
}

/** The most pixels of an image that is shown, because a thumbnail needs the whole image decoded. */
const maxPixels = 2 ** 26;

/** The key of a source in the result of `thumbnails`. */
export const thumbnailKey = ({ uri, videoFrame }: ShownSource): string =>
  videoFrame === undefined ? uri : `${uri}#${videoFrame}`;

/**
 * Pictures that fit `box`, by `thumbnailKey`: of images what `shownOf` chooses, frames of videos in gray. A source that
 * cannot be read, or is too large, is missing.
 */
export async function thumbnails(shown: readonly ShownSource[], box: Size): Promise<Map<string, Thumbnail>> {
  const pictures = new Map<string, Thumbnail>();
  const byVideo = Map.groupBy(shown, ({ uri, videoFrame }) => (videoFrame === undefined ? undefined : uri));
  for (const image of byVideo.get(undefined) ?? []) {
    if (pictures.has(image.uri)) continue;
    const picture = await imageAt(image, box, true).catch(() => undefined);
    if (picture) pictures.set(image.uri, picture);
  }
  byVideo.delete(undefined);
  for (const [uri, frames] of byVideo) {
    try {
      for await (const { frame, pixels, pixel, ...size } of readFrames(
        uri!,
        new Set(frames.map((each) => each.videoFrame!)),
      )) {
        pictures.set(thumbnailKey({ uri: uri!, videoFrame: frame }), await shrink(pixels, pixel, size, 1, box));
      }
    } catch {
      // The frames that were read before the error are shown.
    }
  }
  return pictures;
}

/** The picture of a source, never enlarged. Rejects with InputError if the source cannot be shown. */
export async function thumbnail(shown: ShownSource, box: Size): Promise<Thumbnail> {
  const { uri, videoFrame } = shown;
  if (videoFrame === undefined) return imageAt(shown, box, false);
  for await (const { pixels, pixel, width, height } of readFrames(uri, new Set([videoFrame]))) {
    return shrink(pixels, pixel, { width, height }, 1, within(box, { width, height }));
  }
  throw new InputError('decode', `Frame ${videoFrame} cannot be decoded, or is not in the video`);
}

/** The box, cut to the size of the source. */
function within(box: Size, { width, height }: Size): Size {
  return { width: Math.min(box.width, width), height: Math.min(box.height, height) };
}

async function imageAt({ uri, read = {} }: ShownSource, box: Size, mayEnlarge: boolean): Promise<Thumbnail> {
  const image = await openImage(uri, shownOf(read));
  try {
    const { width, height, pixel } = image;
    if (width * height > maxPixels) {
      throw new InputError('decode', `${width}x${height} are more than the ${maxPixels} pixels that are shown`);
    }
    const size = { width, height };
    const { bytes, planes } = await decodeShown(image, { x: 0, y: 0, ...size });
    return await shrink(bytes, pixel, size, planes, mayEnlarge ? box : within(box, size));
  } finally {
    await image.close();
  }
}

/**
 * Makes a picture, within `box`, of planes of pixels that lie one after another, or of a `part` of them. It
 * shows the upper 8 bits of 16-bit pixels.
 */
export async function shrink(
  planes: Uint8Array,
  pixel: PixelType,
  size: Size,
  channels: 1 | 3,
  box: Size,
  part: Rect = { x: 0, y: 0, ...size },
): Promise<Thumbnail> {
  const { x, y, width, height } = part;
  const bytes = sampleBytes[pixel];
  const pixels = new Uint8Array(channels * width * height);
  for (let channel = 0; channel < channels; channel++) {
    for (let row = 0; row < height; row++) {
      const first = (channel * size.height + y + row) * size.width + x;
      const from = first * bytes + bytes - 1;
      const to = channels * row * width + channel;
      for (let i = 0; i < width; i++) pixels[to + channels * i] = planes[from + i * bytes]!;
    }
  }
  const sharp = await loadSharp();
  const whole = sharp(pixels, { raw: { width, height, channels } });
  const resized = whole.resize(box.width, box.height, { fit: 'inside' });
  const { data, info } = await resized.png(pngOptions).toBuffer({ resolveWithObject: true });
  return { png: data, width: info.width, height: info.height, of: size };
}
