import type { PixelType, Size } from '@halogrid/geometry';
import type { JpegPicture } from '../../formats/jpeg-now.ts';
import { writeRows } from '../../planes/write-rows.ts';
import { type ColourPlanes, ColourWriter } from './colour-writer.ts';
import { type LumaPlane, LumaWriter } from './luma-writer.ts';

/** A decoded frame, valid until the next is decoded. */
export interface FramePixels extends Size {
  pixel: PixelType;
  /** Gray, or red, green and blue. */
  planes: 1 | 3;
  /** Set if it is the bytes of a JPEG, as one row. */
  isEncoded?: true;
  /** Set if it is 8-bit luma of the limited range, which is not gray yet. */
  isLimited?: boolean;
  /** Bytes from a row to the next; if the target has the same, all rows are written in one go. */
  stride?: number;
  /** A sentence that says what was removed from its bytes. */
  mended?: string | undefined;
  /**
   * Writes rows `toStride` bytes apart, which is at least the bytes of a row, and planes `toPlane` bytes apart, to the
   * beginning of `to`.
   */
  write(to: Uint8Array, toStride: number, toPlane: number): void;
}

const lumaWriter = new LumaWriter();
let colourWriter: ColourWriter | undefined;

/** The gray of a frame, repeated for `planes` planes. */
export function grayPixels(luma: LumaPlane, planes: 1 | 3): FramePixels {
  const { width, height, format } = luma;
  return {
    width,
    height,
    pixel: format.pixel,
    planes,
    write: (to, toStride, toPlane) => {
      for (let plane = 0; plane < planes; plane++) lumaWriter.write(luma, to.subarray(plane * toPlane), toStride);
    },
  };
}

/** The luma of a frame in 8 bits as it was decoded. */
export function lumaAsDecoded({ width, height, bytes, stride, isFull }: LumaPlane): FramePixels {
  return {
    width,
    height,
    pixel: 'u8',
    planes: 1,
    isLimited: !isFull,
    stride,
    write: (to, toStride) => {
      if (toStride === stride) to.set(bytes.subarray(0, (height - 1) * stride + width));
      else {
        for (let y = 0; y < height; y++) to.set(bytes.subarray(y * stride, y * stride + width), y * toStride);
      }
    },
  };
}

export function colourPixels(planes: ColourPlanes): FramePixels {
  const { width, height, format } = planes;
  return {
    width,
    height,
    pixel: format.pixel,
    planes: 3,
    write: (to, toStride, toPlane) => {
      colourWriter ??= new ColourWriter();
      colourWriter.write(planes, to, toStride, toPlane);
    },
  };
}

export function jpegPixels({ width, height, channels, bytes, mended }: JpegPicture): FramePixels {
  return {
    width,
    height,
    pixel: 'u8',
    planes: channels,
    mended,
    write: (to, stride, planeBytes) => {
      const target = { bytes: to, offset: 0, stride, planeBytes, channels: channels === 1 ? 'gray' : 'rgb' } as const;
      writeRows({ pixels: bytes, channels, width, rows: height }, target);
    },
  };
}

/** A JPEG that is not decoded. */
export function encodedJpeg(bytes: Uint8Array): FramePixels {
  return { width: bytes.length, height: 1, pixel: 'u8', planes: 1, isEncoded: true, write: (to) => to.set(bytes) };
}

/** All planes of a frame, one after another, rows without gaps. */
export function packedPixels(pixels: FramePixels): Uint8Array {
  const rowBytes = pixels.width * (pixels.pixel === 'u8' ? 1 : 2);
  const bytes = new Uint8Array(pixels.planes * rowBytes * pixels.height);
  pixels.write(bytes, rowBytes, rowBytes * pixels.height);
  return bytes;
}
