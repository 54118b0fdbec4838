import type { AttachRequest, ShardCompleted, SourceResult } from '../gen/halogrid/v1/nodes.ts';
import { varintLength, varintsLength, writeVarints } from './varints.ts';

/** At most this many bytes of counts in a message, so that other messages need not wait long for one. */
export const maxCountsBytes = 2 ** 20;

/** At most this many parts in an answer: an image has at most 2^26 counts of at most 5 bytes each. */
export const maxAnswerParts = 320;

/** The result of a tile, with its counts as the device gives them. */
export type FoundResult = Omit<SourceResult, 'bins' | 'binCount'> & { bins: Uint32Array };

/** An answer before it is split into messages. */
export type FoundAnswer = Omit<ShardCompleted, 'results' | 'counts' | 'parts'> & { results: FoundResult[] };

/** Counts that go into one message. */
interface Piece {
  counts: number;
  bytes: number;
}

/**
 * The messages of an answer, in order: if its counts take more than `most` bytes, its parts, and then ShardCompleted
 * with the remaining counts. Each is made when it is asked for, so that only one is in memory at a time.
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

/** Divides counts into pieces of at most `most` bytes; at least one piece. */
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
