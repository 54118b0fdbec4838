import type { AttachRequest, ShardCompleted, SourceResult } from '../gen/halogrid/v1/nodes.ts';
import { varintLength, varintsLength, writeVarints } from './varints.ts';

/** Bytes of counts in a message at most, so that none holds up what else there is to say for long. */
export const maxCountsBytes = 2 ** 20;

/** Parts of an answer at most: the counts of an image are 2^26 at most, of 5 bytes each at most. */
export const maxAnswerParts = 320;

/** What was found of a tile, its counts as a device leaves them. */
export type FoundResult = Omit<SourceResult, 'bins' | 'binCount'> & { bins: Uint32Array };

/** An answer before it is put into messages. */
export type FoundAnswer = Omit<ShardCompleted, 'results' | 'counts' | 'parts'> & { results: FoundResult[] };

/** Counts that go into one message. */
interface Piece {
  counts: number;
  bytes: number;
}

/**
 * The reports that say an answer, in order: its parts, where its counts are more than `most` bytes, and ShardCompleted
 * with what is left. Each is made when it is asked for, so that one of them is in memory at a time.
 */
export function* splitAnswer(
  { results, ...answer }: FoundAnswer,
  most = maxCountsBytes,
): Generator<NonNullable<AttachRequest['report']>, void, undefined> {
  const { jobId, shard, attempt, epoch } = answer;
  const named = results.map(({ bins, ...result }) => ({ ...result, bins: [], binCount: bins.length }));
  if (results.length === 0) {
    yield { $case: 'completed', value: { ...answer, results: named } };
    return;
  }
  const arrays = results.map(({ bins }) => bins);
  const pieces = cut(arrays, most);
  const total = pieces.length - 1;
  let number = 0;
  for (const counts of pack(arrays, pieces)) {
    if (number++ < total) {
      yield { $case: 'part', value: { jobId, shard, attempt, epoch, number, total, counts } };
    } else {
      yield { $case: 'completed', value: { ...answer, results: named, counts, ...(total > 0 && { parts: total }) } };
    }
  }
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
