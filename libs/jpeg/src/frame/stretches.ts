import { marker } from '@halogrid/imaging/jpeg-segments';
import type { JpegFrame } from './jpeg-frame.ts';

/** The stretches of a JPEG: the parts of its data between restart markers. Each is decoded without those before it. */
export interface JpegStretches {
  /** The offset in the file at which each begins, and as last entry where another one would begin. */
  starts: readonly number[];
  /** The offset at which each ends: at its marker, or at fill bytes before the marker. */
  ends: readonly number[];
}

/**
 * Finds the stretches of a JPEG with header `frame`. For a file without restart markers, or with wrong ones, returns a
 * phrase that says why cores must decode it. Looks at every byte FF of the file.
 */
export function findStretches(jpeg: Uint8Array, frame: JpegFrame): JpegStretches | string {
  const scan = new StretchScan(frame);
  scan.take(jpeg.subarray(frame.dataStart));
  return scan.end();
}

/** Finds the stretches of a file whose data comes in pieces of any length. */
export class StretchScan {
  readonly #frame: JpegFrame;
  readonly #starts: number[];
  readonly #ends: number[] = [];
  /** The offset of the next piece in the file. */
  #position: number;
  /** The offset of the first of the bytes FF that ended the last piece. */
  #open: number | undefined;
  #result: JpegStretches | string | undefined;

  constructor(frame: JpegFrame) {
    this.#frame = frame;
    this.#starts = [frame.dataStart];
    this.#position = frame.dataStart;
    if (frame.restartBlocks === 0) this.#result = 'no restart markers';
  }

  /** Whether the result is known, so that no more pieces are needed. */
  get isDone(): boolean {
    return this.#result !== undefined;
  }

  /** Takes the next bytes of the file; the first piece begins with the data. */
  take(bytes: Uint8Array): void {
    const first = this.#position;
    this.#position += bytes.length;
    let at = this.#open === undefined ? bytes.indexOf(0xff) : 0;
    while (at >= 0 && !this.isDone) {
      const from = this.#open ?? first + at;
      // Any number of fill bytes may stand before a marker.
      while (bytes[at] === 0xff) at++;
      const code = bytes[at++];
      this.#open = code === undefined ? from : undefined;
      if (code === undefined) return;
      // A 0 after FF is a stuffed byte.
      if (code !== 0) this.#takeMarker(code, from, first + at);
      at = bytes.indexOf(0xff, at);
    }
  }

  end(): JpegStretches | string {
    return this.#result ?? 'no end of the data';
  }

  #takeMarker(code: number, from: number, behind: number): void {
    const [starts, ends] = [this.#starts, this.#ends];
    const { blocks, restartBlocks } = this.#frame;
    const expected = Math.ceil(blocks / restartBlocks);
    ends.push(from);
    starts.push(behind);
    if (code === marker.endOfImage) {
      this.#result = ends.length === expected ? { starts, ends } : 'another number of restart markers';
    } else if (code !== marker.firstRestart + ((ends.length - 1) & 7)) this.#result = 'a marker that is not due';
    else if (ends.length === expected) this.#result = 'another number of restart markers';
  }
}
