import type { JpegFrame } from './jpeg-frame.ts';
import { endOfHeader, isTooShort, readJpegFrame } from './read-frame.ts';

/** Headers that are remembered: those of the cameras whose frames come one after another. */
const maxHeaders = 256;
/** Longer ones have a picture of their own, or what else differs from frame to frame. */
const maxHeaderBytes = 2 ** 14;

/**
 * Reads headers like `readJpegFrame`, and remembers the last ones: frames of one camera mostly have the same. Reading
 * one anew takes 20 µs, of which most is for its tables, and finding it again one (measured).
 */
export class JpegFrameReader {
  /** By their bytes, the one that was read first comes first. */
  readonly #known = new Map<string, JpegFrame>();

  /** `head` is the beginning of a file of so many bytes, its header and more, or all of it. */
  read(head: Uint8Array, fileBytes = head.length): JpegFrame | string {
    const end = endOfHeader(head);
    if (end === undefined || end > maxHeaderBytes) return readJpegFrame(head, fileBytes);
    const header = Buffer.from(head.buffer, head.byteOffset, end).toString('latin1');
    const known = this.#known.get(header);
    if (known && !isTooShort(known.blocks, fileBytes - end)) return known;
    const frame = readJpegFrame(head, fileBytes);
    if (typeof frame === 'string') return frame;
    this.#known.set(header, frame);
    if (this.#known.size > maxHeaders) this.#known.delete(this.#known.keys().next().value!);
    return frame;
  }
}
