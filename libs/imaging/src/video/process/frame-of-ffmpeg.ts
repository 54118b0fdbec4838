import { chromaFormat, isGrayFormat, matrixOf, whyNoColour, whyNoMatrix } from './colour-definition.ts';
import { type Frame, fullRange } from './ffmpeg.ts';
import { colourPixels, type FramePixels, grayPixels, lumaAsDecoded } from './frame-pixels.ts';
import type { LumaPlane } from './luma-writer.ts';
import { lumaFormat, whyNoGray } from './video-gray.ts';

type Stated = Pick<Frame, 'colorRange' | 'colorSpace'>;

/**
 * The gray of a frame in a pixel format (FFmpeg's name), repeated for `planes` planes; a text says why there is none.
 */
export function grayOf(frame: Frame, name: string, stated: Stated, planes: 1 | 3): FramePixels | string {
  const luma = lumaOf(frame, name, stated);
  return luma ? grayPixels(luma, planes) : whyNoGray(name);
}

/** The luma of a frame as it was decoded if it has 8 bits, or else its gray. */
export function lumaOrGrayOf(frame: Frame, name: string, stated: Stated): FramePixels | string {
  const luma = lumaOf(frame, name, stated);
  return luma?.format.pixel === 'u8' ? lumaAsDecoded(luma) : grayOf(frame, name, stated, 1);
}

/** The red, green and blue of a frame. */
export function colourOf(frame: Frame, name: string, stated: Stated): FramePixels | string {
  if (isGrayFormat(name)) return grayOf(frame, name, stated, 3);
  const luma = lumaOf(frame, name, stated);
  const chroma = chromaFormat(name);
  if (!luma || !chroma) return whyNoColour(name);
  const matrix = matrixOf(stated.colorSpace);
  if (!matrix) return whyNoMatrix(stated.colorSpace);
  const strides = frame.linesize.slice(1, chroma.isInPairs ? 2 : 3);
  const chromaPlanes = strides.map((stride, i) => ({ bytes: frame.data![i + 1]!, stride }));
  return colourPixels({ ...luma, chroma, chromaPlanes, matrix });
}

function lumaOf(frame: Frame, name: string, { colorRange }: Stated): LumaPlane | undefined {
  const format = lumaFormat(name);
  if (!format) return undefined;
  const { width, height } = frame;
  const isFull = format.isFullRange || colorRange === fullRange;
  return { width, height, bytes: frame.data![0]!, stride: frame.linesize[0]!, format, isFull };
}
