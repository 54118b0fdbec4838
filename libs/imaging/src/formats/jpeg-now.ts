import type { Size } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources/input-error';
import { checkWholePixels, defaultMaxWholePixels } from '../pixel-limit.ts';
import { readJpeg, versionsOf } from './jpeg-header.ts';
import { hasEnd, whyRefused } from './jpeg-verdict.ts';
import { decodeTurboJpegNow } from './turbojpeg.ts';

/** A decoded JPEG: rows of gray, or of interleaved RGB, without gaps. */
export interface JpegPicture extends Size {
  channels: 1 | 3;
  /** The picture's rows, maybe with other bytes behind them. */
  bytes: Uint8Array;
  /** A sentence that says what was removed from the file; absent if nothing was. */
  mended?: string | undefined;
}

const endMarker = Uint8Array.of(0xff, 0xd9);

/**
 * Decodes JPEGs one after another on this thread, each as decodeJpeg does it and with the same verdict. All pictures
 * share one memory: the next one overwrites the last.
 */
export class JpegsNow {
  #bytes = new Uint8Array(0);

  /**
   * Throws InputError for data that is damaged or ends early, and what `check` throws for its size. If there is no end
   * marker, one is added behind the bytes: frames of recordings often lack it, and libjpeg notices missing pixels
   * without it.
   */
  decode(bytes: Uint8Array, channels: 1 | 3, check: (size: Size) => void): JpegPicture {
    const jpeg = readJpeg(hasEnd(bytes) ? bytes : Buffer.concat([bytes, endMarker]));
    const { width, height } = jpeg;
    checkWholePixels(width, height, defaultMaxWholePixels);
    check({ width, height });
    const needed = width * height * channels;
    if (this.#bytes.length < needed) this.#bytes = new Uint8Array(needed);
    const target = { bytes: this.#bytes, stride: width * channels, channels };
    for (const version of versionsOf(jpeg)) {
      if (!version || !decodeTurboJpegNow(version.bytes, target)) continue;
      return { width, height, channels, bytes: this.#bytes, mended: version.mended };
    }
    throw new InputError('decode', whyRefused(bytes));
  }
}
