import { crc32 } from 'node:zlib';
import type { AttachRequest, ShardCompleted, SourceResult } from '../gen/halogrid/v1/nodes.ts';
import { type TabledFrame, writeFrameTable } from './frame-table.ts';
import { varintLength, varintsLength, writeVarints } from './varints.ts';

/** Bytes of counts in a message at most, so that none holds up what else there is to say for long. */
export const maxCountsBytes = 2 ** 20;

/** Parts of an answer at most: the counts of an image are 2^26 at most, of 5 bytes each at most. */
export const maxAnswerParts = 320;

/** A count, which is below 2^32, takes as many bytes at most. */
const maxCountBytes = 5;

/** What was found of a source, its counts as a device leaves them. */
export type FoundResult = Omit<SourceResult, 'bins' | 'binCount'> & { bins: Uint32Array };

/** An answer before it is put into messages. */
export type FoundAnswer = Omit<ShardCompleted, 'results' | 'counts' | 'parts' | 'frames'> & {
  results: FoundResult[];
  /** The shard is frames that are processed whole: each has a result of every pipeline, one after another. */
  areFrames?: boolean;
};

/** Counts that go into one message. */
interface Piece {
  counts: number;
  bytes: number;
}

/**
 * The reports that say an answer, in order: its parts, where its counts are more than `most` bytes, and ShardCompleted with what
 * is left. Each is made when it is asked for, so that one of them is in memory at a time.
 */
export function* splitAnswer(
  { results, areFrames = false, ...answer }: FoundAnswer,
  most = maxCountsBytes,
): Generator<NonNullable<AttachRequest['report']>, void, undefined> {
  const { jobId, shard, attempt, epoch } = answer;
  const arrays = (areFrames ? byPipeline(results) : results).map(({ bins }) => bins);
  const whole = packWhole(arrays, most);
  const pieces = whole ? [] : cut(arrays, most);
  const total = Math.max(0, pieces.length - 1);
  const packed = pack(arrays, pieces);
  let checksum = 0;
  for (let number = 1; number <= total; number++) {
    const counts = packed.next().value!;
    checksum = crc32(counts, checksum);
    yield { $case: 'part', value: { jobId, shard, attempt, epoch, number, total, counts } };
  }
  const counts = whole ?? packed.next().value!;
  const common = { ...answer, counts, ...(total > 0 && { parts: total }) };
  if (areFrames) {
    const frames = writeFrameTable(tabled(results), crc32(counts, checksum));
    yield { $case: 'completed', value: { ...common, results: [], frames } };
  } else {
    const named = results.map(({ bins, ...result }) => ({ ...result, bins: [], binCount: bins.length }));
    yield { $case: 'completed', value: { ...common, results: named } };
  }
}

/** Those of the first pipeline, then those of the next. */
function byPipeline(results: readonly FoundResult[]): readonly FoundResult[] {
  return hasSeveral(results) ? results.toSorted((a, b) => (a.pipeline ?? 0) - (b.pipeline ?? 0)) : results;
}

/** Whether there are results of other pipelines than the first. */
const hasSeveral = (results: readonly FoundResult[]): boolean => results.some(({ pipeline = 0 }) => pipeline > 0);

/** The results of each frame together: they are of one source. */
function tabled(results: readonly FoundResult[]): TabledFrame[] {
  if (!hasSeveral(results)) {
    return results.map((result) => ({ ...sizeAndTime(result), parts: [result] }));
  }
  const frames = new Map<number, FoundResult[]>();
  for (const result of results) {
    const parts = frames.get(result.source);
    if (parts) parts.push(result);
    else frames.set(result.source, [result]);
  }
  return [...frames.values()].map((parts) => {
    return { ...sizeAndTime(parts[0]!), parts };
  });
}

const sizeAndTime = ({ width, height, captured }: FoundResult) => ({ width, height, captured });

/** The counts as one piece, where they cannot be more than `most` bytes, without a look at each before it is written. */
function packWhole(arrays: readonly Uint32Array[], most: number): Uint8Array | undefined {
  const bytes = maxCountBytes * arrays.reduce((sum, { length }) => sum + length, 0);
  if (bytes > most) return undefined;
  const packed = new Uint8Array(bytes);
  let end = 0;
  for (const array of arrays) end = writeVarints(array, packed, end);
  return packed.subarray(0, end);
}

/** Puts counts into pieces of `most` bytes at most; there is one at least. */
function cut(arrays: readonly Uint32Array[], most: number): Piece[] {
  const pieces: Piece[] = [];
  let piece: Piece = { counts: 0, bytes: 0 };
  for (const array of arrays) {
    const all = varintsLength(array);
    if (piece.bytes + all <= most) {
      piece.counts += array.length;
      piece.bytes += all;
      continue;
    }
    for (let i = 0; i < array.length; i++) {
      const bytes = varintLength(array[i]!);
      if (piece.bytes + bytes > most) {
        pieces.push(piece);
        piece = { counts: 0, bytes: 0 };
      }
      piece.counts++;
      piece.bytes += bytes;
    }
  }
  pieces.push(piece);
  return pieces;
}

/** The bytes of each piece, one after another. */
function* pack(arrays: readonly Uint32Array[], pieces: readonly Piece[]): Generator<Uint8Array, void, undefined> {
  let [array, from] = [0, 0];
  for (const { counts, bytes } of pieces) {
    const packed = new Uint8Array(bytes);
    for (let left = counts, at = 0; left > 0; ) {
      const some = arrays[array]!.subarray(from, from + left);
      at = writeVarints(some, packed, at);
      left -= some.length;
      from += some.length;
      if (from === arrays[array]!.length) [array, from] = [array + 1, 0];
    }
    yield packed;
  }
}
