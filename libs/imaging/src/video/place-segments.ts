/** The kinds of decoder: processes that decode on cores, and processes that have hardware decode. */
export type DecoderKind = 'cores' | 'hardware';

/** A process that decodes, or could be started to. */
export interface DecoderState {
  kind: DecoderKind;
  /** Milliseconds until it can begin; more than 0 also if the process must be started. */
  freeInMs: number;
  /** Whether it has no work, so that it can begin. */
  isFree: boolean;
}

/** A segment that waits for a decoder. */
export interface WaitingSegment {
  packets: number;
  kinds: readonly DecoderKind[];
}

/** Milliseconds that one process of each kind takes for a packet. */
export type PacketMs = Record<DecoderKind, number>;

/**
 * Gives each segment, in order, to the decoder that will be done with it first, behind the segments that this decoder
 * was given before. Returns the decoders' indexes. It is undefined for a segment that no decoder may decode, and for
 * one that has to wait because its decoder is at work or begins with another segment. So a decoder is left free only if
 * it would be later with each waiting segment.
 */
export function placeSegments(
  segments: readonly WaitingSegment[],
  decoders: readonly DecoderState[],
  packetMs: PacketMs,
): (number | undefined)[] {
  const free = decoders.map(({ freeInMs }) => freeInMs);
  const isTaken = decoders.map(({ isFree }) => !isFree);
  return segments.map(({ packets, kinds }) => {
    let best: number | undefined;
    let bestMs = Number.POSITIVE_INFINITY;
    for (const [i, { kind }] of decoders.entries()) {
      const endMs = free[i]! + packets * packetMs[kind];
      if (kinds.includes(kind) && endMs < bestMs) [best, bestMs] = [i, endMs];
    }
    if (best === undefined) return undefined;
    const begins = !isTaken[best];
    free[best] = bestMs;
    isTaken[best] = true;
    return begins ? best : undefined;
  });
}
