import { jpegTime } from '@halogrid/imaging/jpeg-time';
import { type JpegFile, type JpegFrame, type JpegFrameReader, layOutJpegs } from '@halogrid/jpeg';
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

  constructor(to: Uint8Array, limits: JpegLimits, reader: JpegFrameReader) {
    this.#to = to;
    this.#limits = limits;
    this.#reader = reader;
  }

  /** Whether the file is done with: taken, or not for devices. If not, the batch is full. */
  take(position: number, bytes: Uint8Array | undefined): boolean {
    const frame = bytes && this.#reader.read(bytes);
    if (!frame || typeof frame === 'string') return true;
    if (Math.min(frame.width, frame.height) < this.#limits.minSide) return true;
    const planeBytes = spaceOf(frame);
    const fits =
      this.#bytes + bytes.length <= this.#limits.bytes && this.#planesBytes + planeBytes <= this.#limits.planesBytes;
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
    this.#planesBytes += planeBytes;
    return true;
  }

  end(done: number): EncodedBatch {
    const taken = new Uint32Array(takenWords * this.#files.length);
    for (const [i, { bytes, frame }] of this.#files.entries()) {
      taken.set([this.#positions[i]!, bytes, frame.width, frame.height], takenWords * i);
    }
    const layout = layOutJpegs(this.#files);
    return { done, layout, filesBytes: this.#bytes, taken, captured: this.#captured };
  }
}

/** Bytes of a plane as it is placed for kernels. */
const spaceOf = ({ width, height }: JpegFrame): number => roundUp(roundUp(width, 16) * height, 256);

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;
