/**
 * Leases a node holds at most: enough to keep 16 decoding threads busy through a network round trip when every shard is
 * a single frame, and few enough that a killed node sets little back.
 */
const maxLeases = 64;
/** Leases of a node that decodes more at the same time, at most: one for each, and one that it goes on with. */
const maxLeasesOfDecoders = 512;
/**
 * Leases that keep a node busy that decodes one shard at a time: one being read, one decoded, one computed, one on its
 * way.
 */
const busyLeases = 4;

/** What there is to say of a node. */
export interface LeaseTaker {
  isRateKnown: boolean;
  /**
   * It failed before: if it does so again, it does so sooner than others compute, and must not be given more for it.
   */
  isOnProbation: boolean;
  /** There is no other that could have its shards. */
  isAlone: boolean;
  /** Shards that it decodes at the same time. */
  decoders: number;
}

/**
 * Leases that a node may hold now whose rate makes `fairShare` of the open shards its own: half of it. Near the end of
 * the work shards are thus held back for whichever node is free first, a slow one is left with as many as it can do
 * meanwhile, and a node that joins late finds some. But of its share a node gets what keeps its decoders busy: with
 * half of it, 16 of them were at work on no more than eight of a recording's last 16 segments. One at least; as long as
 * its rate is not known, only what keeps it busy: how long it will hold them is not known either. That is one for each
 * of its decoders: with four, a node of 16 cores decoded its first segments on four of them. A node on probation gets
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
