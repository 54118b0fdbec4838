import type { LeftNode } from '@halogrid/proto';
import type { NodeSession } from './node-session.ts';

const keptMs = 24 * 3_600_000;
/** The most nodes that are remembered: a node that restarts every minute counts as a new one each time. */
const mostKept = 1_000;

/** Remembers nodes that left or were lost within a day, and why. */
export class LeftNodes {
  readonly #byId = new Map<string, LeftNode>();
  readonly #nowMs: () => number;

  /** `nowMs`: milliseconds since 1970. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The node is back. */
  attached(nodeId: string): void {
    this.#byId.delete(nodeId);
  }

  /** A node is gone; `lostBecause` is undefined for one that left in order. */
  left(
    { hello, attachedMs, totals }: Pick<NodeSession, 'hello' | 'attachedMs' | 'totals'>,
    lostBecause?: string,
  ): void {
    const { nodeId, name, device } = hello;
    const { shardsDone, pixelsDone, lastFailure } = totals;
    // The map's order is the order of leaving.
    this.#byId.delete(nodeId);
    this.#byId.set(nodeId, {
      nodeId,
      name,
      shardsDone,
      pixelsDone,
      attachedMs,
      device: device ? `${device.kind}: ${device.name}` : '',
      gpuUuid: device?.gpu?.uuid ?? '',
      lastFailure: lastFailure?.error ?? '',
      leftMs: this.#nowMs(),
      reason: lostBecause ?? 'It drained and left',
      isLost: lostBecause !== undefined,
    });
    const [oldest] = this.#byId.keys();
    if (this.#byId.size > mostKept) this.#byId.delete(oldest!);
  }

  /** The last one first. */
  list(): LeftNode[] {
    const since = this.#nowMs() - keptMs;
    for (const [nodeId, { leftMs }] of this.#byId) if (leftMs < since) this.#byId.delete(nodeId);
    return [...this.#byId.values()].reverse();
  }
}
