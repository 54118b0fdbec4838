/**
 * The most leases of a node: enough to keep 16 decoding threads busy through a network round trip when every shard is a
 * single frame, and few enough that little is lost with a killed node.
 */
const maxLeases = 64;
/** The most leases of a node that decodes many shards at once: it gets two for each, the second to continue with. */
const maxLeasesOfDecoders = 512;
/**
 * Leases that keep a node busy if it decodes one shard at a time: one being read, one decoded, one computed, one on its
 * way.
 */
const busyLeases = 4;

/** What the limit of a node depends on. */
export interface LeaseTaker {
  isRateKnown: boolean;
  /** It failed before. A failing node answers faster than others compute, and must not get more shards for that. */
  isOnProbation: boolean;
  /** No other node could do its shards. */
  isAlone: boolean;
  /** Shards that it decodes at the same time. */
  decoders: number;
}

/**
 * The most leases of a node now. `fairShare` is the number of open shards that its rate entitles it to; it may hold
 * half of that. So near the end of the work, shards are held back for the node that is free first, a slow node holds no
 * more than it can do in the time, and a node that joins late still gets some. A node may always hold enough of its
 * share to keep its decoders busy: with half of it, 16 decoders worked on only eight of a recording's last 16 segments.
 * At least one. While the rate of a node is unknown, it gets only enough to keep it busy, which is one for each
 * decoder: with four leases, a node of 16 cores decoded its first segments on four of them. A node on probation gets
 * one.
 */
export function leaseLimit(fairShare: number, { isRateKnown, isOnProbation, isAlone, decoders }: LeaseTaker): number {
  if (isOnProbation) return 1;
  const decoding = Math.max(busyLeases, decoders);
  const busy = Math.min(isRateKnown || isAlone ? decoding : busyLeases, Math.ceil(fairShare));
  const maxOfNode = Math.max(maxLeases, Math.min(maxLeasesOfDecoders, 2 * decoders));
  const most = isRateKnown ? maxOfNode : Math.min(maxOfNode, decoding);
  return Math.min(most, Math.max(1, busy, Math.ceil(fairShare / 2)));
}
