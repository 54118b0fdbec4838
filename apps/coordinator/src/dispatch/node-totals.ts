/** What a node has done for this coordinator, in all its conversations. */
export interface NodeTotals {
  shardsDone: number;
  pixelsDone: number;
  /** The last of its failures. */
  lastFailure?: { error: string; atMs: number };
}

/** How many nodes have their totals kept: those that attached last. A restarted process is a new node. */
const maxNodes = 10_000;

/** The totals of nodes by id: a node that attaches again after its connection broke keeps its totals. */
export class AllNodeTotals {
  readonly #byId = new Map<string, NodeTotals>();

  /** A node failed a shard, or is set aside, for that reason. */
  failed(nodeId: string, error: string, atMs: number): void {
    const totals = this.#byId.get(nodeId);
    if (totals) totals.lastFailure = { error, atMs };
  }

  /** The totals of a node that attaches; changes to them are kept. */
  of(nodeId: string): NodeTotals {
    const totals = this.#byId.get(nodeId) ?? { shardsDone: 0, pixelsDone: 0 };
    // Puts the node last: the map begins with the node that attached longest ago.
    this.#byId.delete(nodeId);
    this.#byId.set(nodeId, totals);
    const [oldest] = this.#byId.keys();
    if (this.#byId.size > maxNodes) this.#byId.delete(oldest!);
    return totals;
  }
}

/** Counts a merged shard with this many pixels. */
export function countShard(totals: NodeTotals, pixels: number): void {
  totals.shardsDone++;
  totals.pixelsDone += pixels;
}
