import type { Size } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources/input-error';
import { checkWholePixels, defaultMaxWholePixels } from '../pixel-limit.ts';
import { readJpegHeader } from './jpeg-header.ts';
import { type FoundRows, hasEnd, watchLastRow, whyDamaged, withoutPadding } from './jpeg-verdict.ts';
import { decodeTurboJpegNow, type JpegTarget } from './turbojpeg.ts';

/** A decoded JPEG: rows of gray, or of interleaved RGB, without gaps. */
export interface JpegPicture extends Size {
  channels: 1 | 3;
  /** At least those of the picture. */
  bytes: Uint8Array;
}

const endMarker = Uint8Array.of(0xff, 0xd9);

/**
 * Decodes JPEGs one after another on this thread, each as decodeJpeg does it and with the same verdict. The memory is that of
 * the one before.
 */
export class JpegsNow {
  #bytes = new Uint8Array(0);

  /**
   * Throws InputError for data that is damaged or ends early. One without an end marker is taken to have it at the end of its bytes, as
   * frames of recordings often lack theirs: pixels that are missing show without it. `check` may throw for the size as well.
   */
  decode(bytes: Uint8Array, channels: 1 | 3, check: (size: Size) => void): JpegPicture {
    const jpeg = hasEnd(bytes) ? bytes : Buffer.concat([bytes, endMarker]);
    const size = readJpegHeader(jpeg);
    const { width, height } = size;
    checkWholePixels(width, height, defaultMaxWholePixels);
    check(size);
    const needed = width * height * channels;
    if (this.#bytes.length < needed) this.#bytes = new Uint8Array(needed);
    const target = { bytes: this.#bytes, stride: width * channels, channels };
    if (!isGood(jpeg, size, target)) throw new InputError('decode', whyDamaged(bytes));
    return { width, height, channels, bytes: this.#bytes };
  }
}

function isGood(jpeg: Uint8Array, size: Size, target: JpegTarget): boolean {
  const rows = (of: Uint8Array, to: JpegTarget): FoundRows => {
    const found = watchLastRow(size, to);
    return found(decodeTurboJpegNow(of, to));
  };
  const found = rows(jpeg, target);
  if (found !== 'every row') return found === 'decoded';
  const gray = { bytes: new Uint8Array(size.width * size.height), stride: size.width, channels: 1 } as const;
  return rows(withoutPadding(jpeg), gray) === 'rows missing';
}
