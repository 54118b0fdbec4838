/** A part that is being filled. */
export interface GrowingPart {
  /** Milliseconds since its first shard. */
  ageMs: number;
  /** Bytes of its rows. */
  bytes: number;
  shards: number;
  /** Whether no other shard is on its way to the part. */
  isIdle: boolean;
}

/**
 * The bounds of a part. In parts of one shard, a frame takes 22 µs of processor time; in parts of 64 shards, 9 µs
 * (measured). But while a node waits for a part to become durable, its shards cannot go to other nodes.
 */
export const partBounds = { ageMs: 250, bytes: 32 * 2 ** 20, shards: 128 } as const;

/**
 * The most of a node that waits in parts: two full ones, one to fill and one to write. So a slow disk holds up the
 * node, and does not fill its memory.
 */
export const mostWaiting = { shards: 2 * partBounds.shards, bytes: 2 * partBounds.bytes } as const;

/** Whether a part must end before the next shard is added. */
export function endsPart({ isIdle, ...part }: GrowingPart): boolean {
  if (part.shards === 0) return false;
  const bounds = Object.entries(partBounds) as [keyof typeof partBounds, number][];
  return isIdle || bounds.some(([of, most]) => part[of] >= most);
}
