import { decodeJpeg, planesOf } from '@halogrid/imaging';
import type { JpegFrame } from '../frame/jpeg-frame.ts';

/** The luma, or red, green and blue, that libjpeg-turbo decodes, without gaps; undefined if it refuses the file. */
export async function decodeOnCores(
  jpeg: Uint8Array,
  { width, height }: JpegFrame,
  channels: 'gray' | 'rgb' = 'gray',
): Promise<Uint8Array | undefined> {
  const planeBytes = width * height;
  const bytes = new Uint8Array(planeBytes * planesOf(channels));
  try {
    // A copy, because decoding may change its input.
    await decodeJpeg(Buffer.from(jpeg), {
      bytes,
      offset: 0,
      stride: width,
      channels,
      planeBytes,
    });
    return bytes;
  } catch {
    return undefined;
  }
}
