import { crc32 } from 'node:zlib';
import type { CaptureTime } from '@halogrid/sources/captured';
import { SourceBlock, type TextRange } from '@halogrid/sources/source-block';
import { changedAt } from './captured-times.ts';
import { FrameRows } from './frame-rows.ts';
import { describeChange, readAt } from './histogram-file.ts';
import type { FramesRun, SettledRow } from './ledger.ts';
import type { SourceDigest, StoredPlace } from './record/settled-source.ts';
import { plannedOf } from './source-list.ts';
import { SourceRuns } from './source-runs.ts';

const sourceDigestBytes = 32;

/** Histograms that are read at once, in bytes, unless those of one frame are more. */
const pieceBytes = 2 ** 20;

/**
 * A run of settled frames by columns, as a thread reads them that has nothing else to do: it waits for the disk. Frames are told by
 * their place in the run. Throws one sentence where a file is not as it was written.
 */
export class SettledFrames {
  readonly count: number;
  readonly #run: FramesRun;
  readonly #file: string;
  readonly #block: SourceBlock;
  readonly #rows: FrameRows;
  readonly #timed: FrameRows;

  constructor(run: FramesRun, file: string) {
    const { count, planned, stored, times } = run;
    this.count = count;
    this.#run = run;
    this.#file = file;
    this.#block = new SourceBlock(readAt(planned.file, planned.offset, planned.length));
    this.#rows = readRows(file, stored);
    this.#timed = times ? readRows(times.file, times.stored) : this.#rows;
  }

  /** The number of the first of them in the job. */
  get first(): number {
    return this.#run.first;
  }

  /** Whether there are histograms of them. */
  get hasHistograms(): boolean {
    return this.#run.hasHistograms;
  }

  /** Where the URI of a frame lies as UTF-8. */
  uriText(frame: number, text: TextRange): void {
    this.#block.uriText(this.#run.planned.nth + frame, text);
  }

  /** Where its name lies. */
  nameText(frame: number, text: TextRange): void {
    this.#block.nameText(this.#run.planned.nth + frame, text);
  }

  /** The version of its file when it was listed, where the list knows it. */
  version(frame: number): string | undefined {
    return this.#block.version(this.#run.planned.nth + frame);
  }

  /** The size and the time that a version is made of, a space between them; undefined for other versions. */
  sizeAndTime(frame: number): { size: number; time: number } | undefined {
    const nth = this.#run.planned.nth + frame;
    const time = this.#block.versionTime(nth);
    return time === undefined ? undefined : { size: this.#block.sizeBytes(nth), time };
  }

  width(frame: number): number {
    return this.#rows.widths[this.#run.row + frame]!;
  }

  height(frame: number): number {
    return this.#rows.heights[this.#run.row + frame]!;
  }

  /** How many pixels it counts. */
  counted(frame: number): number {
    return this.#rows.counted[this.#run.row + frame]!;
  }

  /** Where its digest lies. */
  digestBytes(frame: number, digest: { bytes: SourceDigest; from: number; end: number }): void {
    digest.bytes = this.#rows.digests;
    digest.from = sourceDigestBytes * (this.#run.row + frame);
    digest.end = digest.from + sourceDigestBytes;
  }

  captured(frame: number): CaptureTime | undefined {
    if (this.#run.goesByMtime) return changedAt(this.version(frame));
    return this.#timed.captured(this.#run.row + frame);
  }

  /** All of it as other rows are told. */
  settled(frame: number): Extract<SettledRow, { state: 'done' }> {
    const { first, planned, row, stored } = this.#run;
    const captured = this.captured(frame);
    return {
      ...{ index: first + frame, ...plannedOf(this.#block, planned.nth + frame), state: 'done' },
      ...{ width: this.width(frame), height: this.height(frame), counted: this.counted(frame) },
      digest: Buffer.from(this.#rows.digest(row + frame)).toString('hex'),
      ...(captured && { captured }),
      ...(this.hasHistograms && { place: this.#rows.place(row + frame, stored.offset) }),
    };
  }

  /**
   * The histograms of a frame and of some that follow it, as varints that lie end to end, and the first frame that they leave out.
   */
  readHistograms(frame: number): { bytes: Uint8Array; next: number } {
    const { stored, row } = this.#run;
    const { lengths, checksums } = this.#rows;
    const { offset } = this.#rows.place(row + frame, stored.offset);
    let next = frame;
    let length = 0;
    do length += lengths[row + next++]!;
    while (next < this.count && length + lengths[row + next]! <= pieceBytes);
    const bytes = readAt(this.#file, offset, length);
    for (let i = frame, at = 0; i < next; i++) {
      const end = at + lengths[row + i]!;
      if (crc32(bytes.subarray(at, end)) !== checksums[row + i])
        throw new Error(describeChange(this.#file, offset + at));
      at = end;
    }
    return { bytes, next };
  }
}

function readRows(
  file: string,
  { runs, offset, countsBytes, rowsBytes, rowsChecksum, isTimed }: StoredPlace,
): FrameRows {
  const bytes = readAt(file, offset + countsBytes, rowsBytes);
  if (crc32(bytes) !== rowsChecksum) throw new Error(describeChange(file, offset + countsBytes));
  return new FrameRows(new SourceRuns(runs).length, isTimed, bytes);
}
