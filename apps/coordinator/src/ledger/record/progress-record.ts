import type { Size } from '@halogrid/geometry';
import type { SourceDigest } from '@halogrid/results/source-digest';
import type { CaptureTime } from '@halogrid/sources/captured';
import type { HistogramPlace, Quarantine, StoredPlace } from '../../log/settled-source.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/** What became of shards and sources, one after another. */
export type ProgressRecord =
  /** Nodes are numbered from 1 in the order of these. */
  | { kind: 'node'; name: string; device: string }
  /** A shard is done, by that node; by node 0 where it was given up. */
  | { kind: 'shard'; shard: number; node: number }
  /** A shard was leased. */
  | { kind: 'attempt'; shard: number; attempt: number }
  /** Every part of a source is in; `place` has its histograms, where it has any. */
  | {
      kind: 'done';
      /** Place of the pipeline; absent: 0. */
      part?: number;
      source: number;
      size: Size;
      counted: number;
      digest: SourceDigest;
      place: HistogramPlace | undefined;
    }
  /** Frames are in; `part` is the place of the pipeline. */
  | { kind: 'frames'; part: number; frames: StoredPlace }
  /** What the file of a source states of when it was captured. */
  | { kind: 'captured'; source: number; time: CaptureTime }
  /** A source is set aside; the last of several reasons holds. */
  | { kind: 'quarantined'; source: number; reason: Quarantine };

/** `doneBy`: by another pipeline than the first. */
const tags = { node: 0, shard: 1, attempt: 2, done: 3, quarantined: 4, captured: 5, doneBy: 6, frames: 7 } as const;

const digestBytes = 32;

/** What is likely to come next. A block begins with a new one. */
class Expected {
  shard = 0;
  attempted = 0;
  source = 0;
  offset = 0;
  localMs = 0;
}

/** Measured: 6 bytes for a lease and its shard, some 20 for the frames of one; 49 for an image with its digest and its place in the spool; 7 more for its time. */
export class ProgressWriter {
  readonly #bytes: ByteWriter;
  readonly #expected = new Expected();

  constructor(bytes: ByteWriter) {
    this.#bytes = bytes;
  }

  write(record: ProgressRecord): void {
    const bytes = this.#bytes;
    const expected = this.#expected;
    bytes.uint(record.kind === 'done' && record.part ? tags.doneBy : tags[record.kind]);
    switch (record.kind) {
      case 'node':
        bytes.text(record.name);
        bytes.text(record.device);
        break;
      case 'shard':
        bytes.int(record.shard - expected.shard);
        bytes.uint(record.node);
        expected.shard = record.shard + 1;
        break;
      case 'attempt':
        bytes.int(record.shard - expected.attempted);
        bytes.uint(record.attempt);
        expected.attempted = record.shard + 1;
        break;
      case 'done': {
        const { part, source, size, counted, digest, place } = record;
        if (part) bytes.uint(part);
        bytes.int(source - expected.source);
        bytes.uint(size.width);
        bytes.uint(size.height);
        bytes.uint(counted);
        bytes.raw(digest);
        bytes.uint(place?.length ?? 0);
        if (place) {
          bytes.int(place.offset - expected.offset);
          bytes.uint(place.checksum);
          expected.offset = place.offset + place.length;
        }
        expected.source = source + 1;
        break;
      }
      case 'frames':
        this.#frames(record);
        break;
      case 'captured': {
        const { source, time } = record;
        bytes.int(source - expected.source);
        // Frames that follow one another were captured one after another.
        bytes.int(time.localMs - expected.localMs);
        bytes.uint(time.offsetMinutes === undefined ? 0 : 1);
        if (time.offsetMinutes !== undefined) bytes.int(time.offsetMinutes);
        expected.localMs = time.localMs;
        break;
      }
      case 'quarantined': {
        const { stage, error, attempts, shard } = record.reason;
        bytes.int(record.source - expected.source);
        bytes.text(stage);
        bytes.text(error);
        bytes.uint(attempts);
        // -1 is the planner.
        bytes.int(shard);
        expected.source = record.source + 1;
        break;
      }
    }
  }

  #frames({ part, frames }: Extract<ProgressRecord, { kind: 'frames' }>): void {
    const bytes = this.#bytes;
    const expected = this.#expected;
    const { runs, isTimed, offset, countsBytes, rowsBytes, rowsChecksum } = frames;
    bytes.uint(part);
    bytes.uint(runs.length / 2);
    for (let i = 0; i < runs.length; i += 2) {
      bytes.int(runs[i]! - expected.source);
      bytes.uint(runs[i + 1]!);
      expected.source = runs[i]! + runs[i + 1]!;
    }
    bytes.uint(isTimed ? 1 : 0);
    bytes.int(offset - expected.offset);
    for (const value of [countsBytes, rowsBytes, rowsChecksum]) bytes.uint(value);
    expected.offset = offset + countsBytes + rowsBytes;
  }
}

/** The records of a block. Throws RangeError where they cannot be records. */
export function* readProgress(bytes: ByteReader): Generator<ProgressRecord> {
  const expected = new Expected();
  while (!bytes.isAtEnd) yield readRecord(bytes, expected);
}

function readRecord(bytes: ByteReader, expected: Expected): ProgressRecord {
  const tag = bytes.uint();
  switch (tag) {
    case tags.node:
      return { kind: 'node', name: bytes.text(), device: bytes.text() };
    case tags.shard: {
      const shard = expected.shard + bytes.int();
      expected.shard = shard + 1;
      return { kind: 'shard', shard, node: bytes.uint() };
    }
    case tags.attempt: {
      const shard = expected.attempted + bytes.int();
      expected.attempted = shard + 1;
      return { kind: 'attempt', shard, attempt: bytes.uint() };
    }
    case tags.done:
      return readDone(bytes, expected);
    case tags.doneBy: {
      const part = bytes.uint();
      return { ...readDone(bytes, expected), part };
    }
    case tags.frames:
      return readFrames(bytes, expected);
    case tags.captured: {
      const source = expected.source + bytes.int();
      const localMs = expected.localMs + bytes.int();
      expected.localMs = localMs;
      const time = bytes.uint() === 0 ? { localMs } : { localMs, offsetMinutes: bytes.int() };
      return { kind: 'captured', source, time };
    }
    case tags.quarantined: {
      const source = expected.source + bytes.int();
      expected.source = source + 1;
      const reason = { stage: bytes.text(), error: bytes.text(), attempts: bytes.uint(), shard: bytes.int() };
      return { kind: 'quarantined', source, reason };
    }
    default:
      throw new RangeError(`There is no record of kind ${tag}`);
  }
}

function readFrames(bytes: ByteReader, expected: Expected): ProgressRecord {
  const part = bytes.uint();
  const runs = new Float64Array(2 * bytes.uint());
  for (let i = 0; i < runs.length; i += 2) {
    runs[i] = expected.source + bytes.int();
    runs[i + 1] = bytes.uint();
    expected.source = runs[i]! + runs[i + 1]!;
  }
  const isTimed = bytes.uint() === 1;
  const offset = expected.offset + bytes.int();
  const [countsBytes, rowsBytes, rowsChecksum] = [bytes.uint(), bytes.uint(), bytes.uint()];
  expected.offset = offset + countsBytes + rowsBytes;
  return { kind: 'frames', part, frames: { runs, isTimed, offset, countsBytes, rowsBytes, rowsChecksum } };
}

function readDone(bytes: ByteReader, expected: Expected): Extract<ProgressRecord, { kind: 'done' }> {
  const source = expected.source + bytes.int();
  expected.source = source + 1;
  const size = { width: bytes.uint(), height: bytes.uint() };
  const counted = bytes.uint();
  const digest = bytes.raw(digestBytes);
  const length = bytes.uint();
  let place: HistogramPlace | undefined;
  if (length > 0) {
    const offset = expected.offset + bytes.int();
    place = { offset, length, checksum: bytes.uint() };
    expected.offset = offset + length;
  }
  return { kind: 'done', source, size, counted, digest, place };
}
