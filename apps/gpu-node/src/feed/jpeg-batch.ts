import { jpegTime } from '@halogrid/imaging/jpeg-time';
import { sayOtherJpegs } from '@halogrid/imaging/other-jpegs';
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

interface PlacedFile extends JpegFile {
  /** The file's index among the requested ones. */
  position: number;
}

/** JPEGs that are put into memory one after another, for a device to decode. */
export class JpegBatch {
  isFull = false;
  readonly #to: Uint8Array;
  readonly #limits: JpegLimits;
  readonly #reader: JpegFrameReader;
  readonly #files: PlacedFile[] = [];
  readonly #captured = new Map<number, CaptureTime>();
  readonly #mended = new Map<number, string>();
  #bytes = 0;
  #planesBytes = 0;
  #resultBytes = 0;

  constructor(to: Uint8Array, limits: JpegLimits, reader: JpegFrameReader) {
    this.#to = to;
    this.#limits = limits;
    this.#reader = reader;
  }

  /**
   * Takes a file that is in memory; leaves it out if it is not for devices. False if the batch is full and the file
   * must wait.
   */
  take(position: number, bytes: Uint8Array): boolean {
    this.place(position, bytes, bytes.length)?.set(bytes);
    return !this.isFull;
  }

  /**
   * The place for the bytes of a file. `head`: its first bytes, with its header. Undefined for a file that is not for
   * devices, or if the batch is full.
   */
  place(position: number, head: Uint8Array, fileBytes: number): Uint8Array | undefined {
    const frame = this.#reader.read(head, fileBytes);
    if (typeof frame === 'string') return undefined;
    const { width, height } = frame;
    const { minSide, channels, results } = this.#limits;
    if (Math.min(width, height) < minSide || (channels === 'rgb' && !hasColours(frame))) return undefined;
    const planesBytes = this.#planesBytes + (channels === 'rgb' ? spaceOfColours(frame) : spaceOf(frame));
    const resultBytes = this.#resultBytes + results.ofImage + height * (results.ofRow + width * results.ofPixel);
    const fits =
      this.#bytes + fileBytes <= this.#limits.bytes &&
      planesBytes <= this.#limits.planesBytes &&
      resultBytes <= results.most;
    if (!fits) {
      // A file that does not even fit an empty batch is left out.
      this.isFull = this.#bytes > 0;
      return undefined;
    }
    const offset = this.#bytes;
    this.#files.push({ frame, offset, bytes: fileBytes, position });
    const captured = jpegTime(head);
    if (captured) this.#captured.set(position, captured);
    const mended = sayOtherJpegs(head);
    if (mended) this.#mended.set(position, mended);
    this.#bytes += roundUp(fileBytes, 4);
    this.#planesBytes = planesBytes;
    this.#resultBytes = resultBytes;
    return this.#to.subarray(offset, offset + fileBytes);
  }

  /** Leaves out a file that has a place, but could not be read. */
  leaveOut(position: number): void {
    const at = this.#files.findIndex((file) => file.position === position);
    this.#files.splice(at, 1);
    this.#captured.delete(position);
    this.#mended.delete(position);
  }

  end(done: number): EncodedBatch {
    const taken = new Uint32Array(takenWords * this.#files.length);
    for (const [i, { position, bytes, frame }] of this.#files.entries()) {
      taken.set([position, bytes, frame.width, frame.height], takenWords * i);
    }
    const { layout, colours } =
      this.#limits.channels === 'rgb'
        ? layOutColours(this.#files)
        : { layout: layOutJpegs(this.#files), colours: undefined };
    const facts = { captured: this.#captured, mended: this.#mended };
    return { done, layout, colours, filesBytes: this.#bytes, taken, ...facts };
  }
}

/** Bytes of a plane, as kernels need it placed. */
const spaceOf = ({ width, height }: JpegFrame): number => roundUp(roundUp(width, 16) * height, 256);

/** Bytes of three such planes, and of the chroma that they are made from. */
const spaceOfColours = (frame: JpegFrame): number =>
  roundUp(3 * roundUp(frame.width, 16) * frame.height, 256) + chromaBytes(frame);

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;
