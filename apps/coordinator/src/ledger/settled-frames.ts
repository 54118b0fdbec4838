import { timeOfFile } from '@halogrid/sources/captured';
import { BlockError, SourceBlock } from '@halogrid/sources/source-block';
import { SourceRuns } from '../job/source-runs.ts';
import { FrameRows } from '../log/frame-rows.ts';
import { DamagedLogError } from '../log/log-file.ts';
import { readBytes, readChecked } from '../log/read-bytes.ts';
import type { HistogramPlace, StoredPlace } from '../log/settled-source.ts';
import type { FramesRun, SettledRow } from './ledger.ts';

type DoneRow = Extract<SettledRow, { state: 'done' }>;

const sourceDigestBytes = 32;

/**
 * A run of settled frames by columns, as a thread reads them that has nothing else to do: it waits for the disk. Frames are told by
 * their place in the run. Throws one sentence where a file is not as it was written.
 */
export class SettledFrames {
  readonly count: number;
  readonly #run: FramesRun;
  readonly #block: SourceBlock;
  readonly #rows: FrameRows;
  readonly #timed: FrameRows;
  readonly #digests: Buffer;

  constructor(run: FramesRun) {
    const { count, planned, stored, times, file } = run;
    this.count = count;
    this.#run = run;
    this.#block = readBlock(planned);
    this.#rows = readRows(file, stored);
    this.#timed = times ? readRows(times.file, times.stored) : this.#rows;
    const { buffer, byteOffset, byteLength } = this.#rows.digests;
    this.#digests = Buffer.from(buffer, byteOffset, byteLength);
  }

  /** All frames as other sources are told, one at a time: so objects are gone before the next. */
  *rows(): Generator<DoneRow, void, undefined> {
    for (let frame = 0; frame < this.count; frame++) yield this.settled(frame);
  }

  /** Where their histograms are; none where there are none. */
  places(): HistogramPlace[] {
    const { row, stored } = this.#run;
    const count = this.#run.hasHistograms ? this.count : 0;
    return Array.from({ length: count }, (_, frame) => this.#rows.place(row + frame, stored.offset));
  }

  /** A frame as other sources are told. */
  settled(frame: number): DoneRow {
    const { first, planned, row, stored } = this.#run;
    const [nth, at] = [planned.nth + frame, row + frame];
    const rows = this.#rows;
    const settled: DoneRow = {
      index: first + frame,
      uri: this.#block.uri(nth),
      name: this.#block.name(nth),
      state: 'done',
      width: rows.widths[at]!,
      height: rows.heights[at]!,
      counted: rows.counted[at]!,
      digest: this.#digests.toString('hex', sourceDigestBytes * at, sourceDigestBytes * (at + 1)),
    };
    const version = this.#block.version(nth);
    if (version !== undefined) settled.version = version;
    const video = this.#block.video(nth);
    if (video) settled.video = video;
    const captured = timeOfFile(
      this.#run.goesByMtime,
      () => version,
      () => this.#timed.captured(at),
    );
    if (captured) settled.captured = captured;
    if (this.#run.hasHistograms) settled.place = rows.place(at, stored.offset);
    return settled;
  }
}

function readBlock({ file, offset, length }: FramesRun['planned']): SourceBlock {
  try {
    return new SourceBlock(readBytes(file, offset, length));
  } catch (error) {
    if (error instanceof BlockError) throw DamagedLogError.changed(file, offset);
    throw error;
  }
}

function readRows(
  file: string,
  { runs, offset, countsBytes, rowsBytes, rowsChecksum, isTimed }: StoredPlace,
): FrameRows {
  const bytes = readChecked(file, { offset: offset + countsBytes, length: rowsBytes, checksum: rowsChecksum });
  return new FrameRows(new SourceRuns(runs).length, isTimed, bytes);
}
