import type { JpegFrame } from './jpeg-frame.ts';
import { isTooShort, readJpegFrame } from './read-frame.ts';

/** Headers that are remembered: those of the cameras whose frames come one after another. */
const maxHeaders = 16;

/**
 * Reads headers like `readJpegFrame`, and remembers the last ones: frames of one camera mostly have the same. Reading one
 * anew takes 40 µs, of which most is for its tables, and finding it again half a µs (measured).
 */
export class JpegFrameReader {
  /** The last one first. */
  readonly #known: { header: Uint8Array; frame: JpegFrame }[] = [];

  read(jpeg: Uint8Array): JpegFrame | string {
    const found = this.#known.findIndex(({ header, frame }) => {
      const isLongEnough = jpeg.length > header.length && !isTooShort(frame.blocks, jpeg.length - header.length);
      return isLongEnough && Buffer.compare(jpeg.subarray(0, header.length), header) === 0;
    });
    if (found >= 0) {
      const [known] = this.#known.splice(found, 1);
      this.#known.unshift(known!);
      return known!.frame;
    }
    const frame = readJpegFrame(jpeg);
    if (typeof frame === 'string') return frame;
    // A copy, because the memory of files is used again; `slice` of a Buffer would be none.
    this.#known.unshift({ header: new Uint8Array(jpeg.subarray(0, frame.dataStart)), frame });
    this.#known.length = Math.min(this.#known.length, maxHeaders);
    return frame;
  }
}
