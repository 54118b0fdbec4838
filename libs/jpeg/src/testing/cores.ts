import { decodeJpeg } from '@halogrid/imaging';
import type { JpegFrame } from '../frame/jpeg-frame.ts';

/** The luma that libjpeg-turbo decodes, rows without gaps; undefined where it refuses the file. */
export async function decodeOnCores(jpeg: Uint8Array, { width, height }: JpegFrame): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(width * height);
  try {
    // It may write to what it decodes.
    await decodeJpeg(Buffer.from(jpeg), {
      bytes,
      offset: 0,
      stride: width,
      channels: 'gray',
      planeBytes: bytes.length,
    });
    return bytes;
  } catch {
    return undefined;
  }
}
