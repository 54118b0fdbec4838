/** What a node has done for this coordinator, in all its conversations. */
export interface NodeTotals {
  shardsDone: number;
  pixelsDone: number;
  /** The last of its failures. */
  lastFailure?: { error: string; atMs: number };
}

/** Nodes whose totals are kept, at least: those that attached last. A process that is started again is another node. */
const maxNodes = 10_000;

/** The totals of nodes by id: a node that attaches again, because its connection broke, goes on with its own. */
export class AllNodeTotals {
  readonly #byId = new Map<string, NodeTotals>();

  /** A node failed a shard, or is set aside, for that reason. */
  failed(nodeId: string, error: string, atMs: number): void {
    const totals = this.#byId.get(nodeId);
    if (totals) totals.lastFailure = { error, atMs };
  }

  /** Those of a node that attaches; what is added to them stays. */
  of(nodeId: string): NodeTotals {
    const totals = this.#byId.get(nodeId) ?? { shardsDone: 0, pixelsDone: 0 };
    // The one that attached longest ago is the first.
    this.#byId.delete(nodeId);
    this.#byId.set(nodeId, totals);
    const [oldest] = this.#byId.keys();
    if (this.#byId.size > maxNodes) this.#byId.delete(oldest!);
    return totals;
  }
}

/** One more shard was merged, of so many pixels. */
export function countShard(totals: NodeTotals, pixels: number): void {
  totals.shardsDone++;
  totals.pixelsDone += pixels;
}
