import { marker } from '@halogrid/imaging/jpeg-segments';
import type { JpegFrame } from './jpeg-frame.ts';

/** Stretches of the data of a JPEG that restart markers end, of which each is decoded without those before it. */
export interface JpegStretches {
  /** Where each begins in the file, and one more: where one behind the last would begin. */
  starts: readonly number[];
  /** Where each ends: at its marker, or fill bytes in front of that. */
  ends: readonly number[];
}

/**
 * Finds the stretches of a JPEG, of which `frame` is what its header says; for a file without restart markers, or with
 * others than it must have, a phrase that says why cores decode it. It looks at every FF of the file.
 */
export function findStretches(jpeg: Uint8Array, frame: JpegFrame): JpegStretches | string {
  const scan = new StretchScan(frame);
  scan.take(jpeg.subarray(frame.dataStart));
  return scan.end();
}

/** The same of a file whose data comes in pieces, of any length. */
export class StretchScan {
  readonly #frame: JpegFrame;
  readonly #starts: number[];
  readonly #ends: number[] = [];
  /** Where in the file the next piece begins. */
  #position: number;
  /** Where bytes FF begin whose last one ended the piece before. */
  #open: number | undefined;
  #result: JpegStretches | string | undefined;

  constructor(frame: JpegFrame) {
    this.#frame = frame;
    this.#starts = [frame.dataStart];
    this.#position = frame.dataStart;
    if (frame.restartBlocks === 0) this.#result = 'no restart markers';
  }

  /** Whether all is known, so that no more pieces need come. */
  get isDone(): boolean {
    return this.#result !== undefined;
  }

  /** The next bytes of the file, the first of them from where its data begins. */
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
      // 0 is what is stuffed behind a byte FF of the data.
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
