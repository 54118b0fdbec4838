/** What decodes: processes that decode on cores, and those that have hardware do it. */
export type DecoderKind = 'cores' | 'hardware';

/** A process that decodes, or could be started to. */
export interface DecoderState {
  kind: DecoderKind;
  /** Milliseconds until it can begin; more than 0 as well for one that is to be started. */
  freeInMs: number;
  /** It is at nothing, so that it could be told to begin. */
  isFree: boolean;
}

/** A segment that waits for a decoder. */
export interface WaitingSegment {
  packets: number;
  kinds: readonly DecoderKind[];
}

/** Milliseconds that a packet takes one process. */
export type PacketMs = Record<DecoderKind, number>;

/**
 * Gives each segment, in their order, to the decoder that will have done it first, behind what that was given before,
 * and returns the decoders' numbers: undefined for a segment that is better kept, because the decoder is at work or has
 * another to begin with, and for one that none may decode. So a decoder is left free only where it would be later with
 * each segment that waits.
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
