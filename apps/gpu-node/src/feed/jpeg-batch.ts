import { jpegTime } from '@halogrid/imaging/jpeg-time';
import {
  chromaBytes,
  hasColours,
  type JpegFile,
  type JpegFrame,
  type JpegFrameReader,
  layOutColours,
  layOutJpegs,
} from '@halogrid/jpeg';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import { type EncodedBatch, type JpegLimits, takenWords } from './jpeg-orders.ts';

/** JPEGs that are put into memory one after another, for a device to decode. */
export class JpegBatch {
  isFull = false;
  readonly #to: Uint8Array;
  readonly #limits: JpegLimits;
  readonly #reader: JpegFrameReader;
  readonly #files: JpegFile[] = [];
  readonly #positions: number[] = [];
  readonly #captured = new Map<number, CaptureTime>();
  #bytes = 0;
  #planesBytes = 0;
  #resultBytes = 0;

  constructor(to: Uint8Array, limits: JpegLimits, reader: JpegFrameReader) {
    this.#to = to;
    this.#limits = limits;
    this.#reader = reader;
  }

  /** Whether the file is done with: taken, or not for devices. If not, the batch is full. */
  take(position: number, bytes: Uint8Array | undefined): boolean {
    const frame = bytes && this.#reader.read(bytes);
    if (!frame || typeof frame === 'string') return true;
    const { width, height } = frame;
    const { minSide, channels, results } = this.#limits;
    if (Math.min(width, height) < minSide || (channels === 'rgb' && !hasColours(frame))) return true;
    const planesBytes = this.#planesBytes + (channels === 'rgb' ? spaceOfColours(frame) : spaceOf(frame));
    const resultBytes = this.#resultBytes + results.ofImage + height * (results.ofRow + width * results.ofPixel);
    const fits =
      this.#bytes + bytes.length <= this.#limits.bytes &&
      planesBytes <= this.#limits.planesBytes &&
      resultBytes <= results.most;
    if (!fits) {
      // Alone it never will.
      if (this.#bytes === 0) return true;
      this.isFull = true;
      return false;
    }
    this.#to.set(bytes, this.#bytes);
    this.#files.push({ frame, offset: this.#bytes, bytes: bytes.length });
    this.#positions.push(position);
    const captured = jpegTime(bytes);
    if (captured) this.#captured.set(position, captured);
    this.#bytes += roundUp(bytes.length, 4);
    this.#planesBytes = planesBytes;
    this.#resultBytes = resultBytes;
    return true;
  }

  end(done: number): EncodedBatch {
    const taken = new Uint32Array(takenWords * this.#files.length);
    for (const [i, { bytes, frame }] of this.#files.entries()) {
      taken.set([this.#positions[i]!, bytes, frame.width, frame.height], takenWords * i);
    }
    const { layout, colours } =
      this.#limits.channels === 'rgb'
        ? layOutColours(this.#files)
        : { layout: layOutJpegs(this.#files), colours: undefined };
    return { done, layout, colours, filesBytes: this.#bytes, taken, captured: this.#captured };
  }
}

/** Bytes of a plane as it is placed for kernels. */
const spaceOf = ({ width, height }: JpegFrame): number => roundUp(roundUp(width, 16) * height, 256);

/** The same of three, and of the chroma that they are made of. */
const spaceOfColours = (frame: JpegFrame): number =>
  roundUp(3 * roundUp(frame.width, 16) * frame.height, 256) + chromaBytes(frame);

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;
