/** A part that grows: what it has, and what waits for it. */
export interface GrowingPart {
  /** Since its first shard. */
  ageMs: number;
  /** Bytes of its rows. */
  bytes: number;
  shards: number;
  /** How much of the work that its node may hold at once is that of these shards: 0 to 1. */
  share: number;
  /** Whether nothing else is on its way to it. */
  isIdle: boolean;
}

/**
 * The bounds of a part. A part of one shard takes three times the processor time a frame that one of 64 takes
 * (measured: 25 and 9 µs), and a node that waits for a part to be durable holds work that cannot be given to others.
 */
export const partBounds = { ageMs: 250, bytes: 32 * 2 ** 20, shards: 64, share: 1 / 4 } as const;

/** Whether a part is to end before more is added. */
export function endsPart({ isIdle, ...part }: GrowingPart): boolean {
  if (part.shards === 0) return false;
  const bounds = Object.entries(partBounds) as [keyof typeof partBounds, number][];
  return isIdle || bounds.some(([of, most]) => part[of] >= most);
}
