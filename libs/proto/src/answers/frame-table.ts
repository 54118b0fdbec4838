import { crc32 } from 'node:zlib';
import type { CaptureTime } from '../gen/halogrid/v1/nodes.ts';
import { maxPipelines } from '../job-limits.ts';
import { varintLength, writeVarints } from './varints.ts';

// What an answer says of frames beside their counts, as one block of bytes. It is
//   the CRC-32 of the counts of the answer and of what follows, 4 bytes with the lowest first, then integers as `writeVarints`
//   writes them: the number of frames, that of pipelines, and columns;
//   a column is runs of frames that have the same, each with its length: width and height; then for each pipeline how many counts
//   a frame has, and how many pixels were counted in each channel; then whether a time of capture is stated (0: none, 1: without
//   a zone, 2: with one), and behind such a run, for each of its frames, milliseconds as the difference from the frame before, and
//   the minutes of the zone, both as twice the number, or one less than twice the amount where it is below 0.

/** Bytes of such a table at most. */
export const maxFrameTableBytes = 2 ** 22;

/** Frames of a table at most, as of a lease. */
const maxFrames = 65_536;
const checksumBytes = 4;

/** Bytes that are no table of frames, or not of these counts. */
export class FrameTableError extends Error {
  override name = 'FrameTableError';
}

/** What a table says of all frames together. */
export interface FrameOutline {
  frames: number;
  pixels: number;
}

/** A column each, of frames in their order. */
export interface FrameColumns {
  frames: number;
  widths: Uint32Array;
  heights: Uint32Array;
  /** For each pipeline the pixels counted in each channel, and how many of the answer's counts are those of the frame. */
  parts: { counted: Float64Array; binCounts: Uint32Array }[];
  /** Absent where no time is stated: as CaptureTime, NaN of frames of which none is, and `noZone` where it has no zone. */
  captured?: { localMs: Float64Array; offsetMinutes: Int16Array };
}

/** Stands for a time whose zone nobody states. */
export const noZone = 0x7fff;

/** What a table is made of. */
export interface TabledFrame {
  width: number;
  height: number;
  captured?: CaptureTime | undefined;
  /** One a pipeline. */
  parts: readonly { counted: number; bins: ArrayLike<number> }[];
}

/** The table of frames; `countsChecksum` is the CRC-32 of all counts of the answer. */
export function writeFrameTable(frames: readonly TabledFrame[], countsChecksum: number): Uint8Array {
  const numbers: number[] = [frames.length, frames[0]?.parts.length ?? 0];
  runs(numbers, frames, [({ width }) => width, ({ height }) => height]);
  for (let part = 0; part < numbers[1]!; part++) {
    runs(numbers, frames, [({ parts }) => parts[part]!.bins.length]);
    runs(numbers, frames, [({ parts }) => parts[part]!.counted]);
  }
  const kind = ({ captured }: TabledFrame): number => (captured ? (captured.offsetMinutes === undefined ? 1 : 2) : 0);
  let before = 0;
  runs(numbers, frames, [kind], ({ captured }) => {
    if (!captured) return;
    numbers.push(folded(captured.localMs - before));
    before = captured.localMs;
    if (captured.offsetMinutes !== undefined) numbers.push(folded(captured.offsetMinutes));
  });
  const bytes = new Uint8Array(checksumBytes + numbers.reduce((sum, value) => sum + varintLength(value), 0));
  writeVarints(numbers, bytes, checksumBytes);
  new DataView(bytes.buffer).setUint32(0, crc32(bytes.subarray(checksumBytes), countsChecksum), true);
  return bytes;
}

/** Adds the runs of frames that have the same values, and behind each what `more` adds for its frames. */
function runs(
  numbers: number[],
  frames: readonly TabledFrame[],
  values: readonly ((frame: TabledFrame) => number)[],
  more?: (frame: TabledFrame) => void,
): void {
  for (let from = 0, to = 0; from < frames.length; from = to) {
    const first = frames[from]!;
    do to++;
    while (to < frames.length && values.every((value) => value(frames[to]!) === value(first)));
    numbers.push(to - from, ...values.map((value) => value(first)));
    if (more) for (let i = from; i < to; i++) more(frames[i]!);
  }
}

const folded = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);
const unfolded = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);

/** Reads no more than the sizes, which is one run where all frames are as large. Throws FrameTableError where there are none. */
export function frameOutline(table: Uint8Array): FrameOutline {
  const numbers = new Numbers(table);
  const { frames } = numbers.head();
  let pixels = 0;
  numbers.runs(frames, (from, to) => {
    pixels += (to - from) * numbers.size() * numbers.size();
  });
  if (!Number.isSafeInteger(pixels))
    throw new FrameTableError(`Expected frames of a size but received ${pixels} pixels`);
  return { frames, pixels };
}

/**
 * The columns of a table of an answer with those counts. Throws FrameTableError where a byte of either is not as it was written, and
 * where the bytes are no table; how many counts there are of what frames is not looked at.
 */
export function readFrameTable(table: Uint8Array, counts: readonly Uint8Array[]): FrameColumns {
  const numbers = new Numbers(table);
  const checksum = counts.reduce((sum, bytes) => crc32(bytes, sum), 0);
  if (numbers.checksum !== crc32(table.subarray(checksumBytes), checksum)) {
    throw new FrameTableError('Expected the table of frames and the counts that were sent but received other bytes');
  }
  const { frames, pipelines } = numbers.head();
  const [widths, heights] = [new Uint32Array(frames), new Uint32Array(frames)];
  numbers.runs(frames, (from, to) => {
    widths.fill(numbers.size(), from, to);
    heights.fill(numbers.size(), from, to);
  });
  const parts = Array.from({ length: pipelines }, () => {
    const [binCounts, counted] = [new Uint32Array(frames), new Float64Array(frames)];
    numbers.runs(frames, (from, to) => binCounts.fill(numbers.size(), from, to));
    numbers.runs(frames, (from, to) => counted.fill(numbers.next(), from, to));
    return { binCounts, counted };
  });
  const captured = numbers.times(frames);
  numbers.end();
  return { frames, widths, heights, parts, ...(captured && { captured }) };
}

/** Reads the integers of a table. Every method throws FrameTableError. */
class Numbers {
  readonly checksum: number;
  readonly #bytes: Uint8Array;
  #at = checksumBytes;

  constructor(bytes: Uint8Array) {
    if (bytes.length < checksumBytes) throw new FrameTableError('Expected a table of frames but it ends early');
    this.#bytes = bytes;
    this.checksum = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  }

  head(): { frames: number; pipelines: number } {
    const [frames, pipelines] = [this.next(), this.next()];
    if (frames > maxFrames || pipelines > maxPipelines) {
      throw new FrameTableError(
        `Expected at most ${maxFrames} frames of ${maxPipelines} pipelines but received ${frames} of ${pipelines}`,
      );
    }
    return { frames, pipelines };
  }

  /** Below 2^53. */
  next(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new FrameTableError('Expected a table of frames but it ends early');
      value += (byte & 0x7f) * scale;
      if (!Number.isSafeInteger(value)) throw new FrameTableError('Expected numbers below 2^53 in a table of frames');
      if (byte < 0x80) return value;
    }
  }

  /** Below 2^32. */
  size(): number {
    const value = this.next();
    if (value >= 2 ** 32) throw new FrameTableError(`Expected sizes below 2^32 but received ${value}`);
    return value;
  }

  /** Tells each run, whose values are next. */
  runs(frames: number, run: (from: number, to: number) => void): void {
    for (let from = 0; from < frames; ) {
      const to = from + this.next();
      if (to <= from || to > frames) throw new FrameTableError(`Expected ${frames} frames in a column but not ${to}`);
      run(from, to);
      from = to;
    }
  }

  times(frames: number): FrameColumns['captured'] {
    let captured: FrameColumns['captured'];
    let before = 0;
    this.runs(frames, (from, to) => {
      const kind = this.next();
      if (kind > 2) throw new FrameTableError(`There is no time of capture of kind ${kind}`);
      if (kind === 0) return;
      captured ??= {
        localMs: new Float64Array(frames).fill(Number.NaN),
        offsetMinutes: new Int16Array(frames).fill(noZone),
      };
      for (let i = from; i < to; i++) {
        before += unfolded(this.next());
        captured.localMs[i] = before;
        if (kind === 2) captured.offsetMinutes[i] = this.#minutes();
      }
    });
    return captured;
  }

  /** What is no zone of any time becomes one that is none. */
  #minutes(): number {
    const minutes = unfolded(this.next());
    return Math.abs(minutes) < noZone ? minutes : noZone - 1;
  }

  end(): void {
    const behind = this.#bytes.length - this.#at;
    if (behind > 0) throw new FrameTableError(`Expected the end of a table of frames but ${behind} bytes follow`);
  }
}
