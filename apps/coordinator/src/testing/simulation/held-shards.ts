import type { LeaseOrder, NodeReport } from '../../dispatch/node-session.ts';
import type { LeaseId } from '../../scheduler/events.ts';

/** A shard that is not answered, or whose answer may be lost. */
export interface HeldShard {
  order: LeaseOrder;
  /** Its answer, if it was ready while there was no connection. */
  answer: ((lease: LeaseId) => NodeReport) | undefined;
  /** It is computed, and its results wait in a part. */
  isInPart?: boolean;
  /** Another coordinator leased it, and this one has not said yet whether it goes on. */
  isBrought?: boolean;
}

/** The shards that a simulated node holds, and the one that its device computes. */
export class HeldShards {
  #all: HeldShard[] = [];
  #sent: { held: HeldShard; sentMs: number }[] = [];
  #current: HeldShard | undefined;

  get size(): number {
    return this.#all.length;
  }

  /** In the order of arrival. A copy, so that shards may be dropped meanwhile. */
  list(): HeldShard[] {
    return [...this.#all];
  }

  has(held: HeldShard): boolean {
    return this.#all.includes(held);
  }

  add(held: HeldShard): void {
    this.#all.push(held);
  }

  /** Makes the first shard to compute the current one. Undefined if another one is current, or none is left. */
  beginNext(): HeldShard | undefined {
    if (this.#current) return undefined;
    this.#current = this.#all.find(({ answer, isInPart }) => !answer && !isInPart);
    return this.#current;
  }

  /** The device is done with the shard. False if it was dropped meanwhile. */
  end(held: HeldShard): boolean {
    if (this.#current !== held) return false;
    this.#current = undefined;
    return true;
  }

  /** The shard was answered at that time. */
  sent(held: HeldShard, nowMs: number): void {
    this.drop(held);
    this.#sent.push({ held, sentMs: nowMs });
  }

  /** The connection is gone: shards that were answered since that time are held again. */
  takeBack(sinceMs: number): void {
    for (const { held, sentMs } of this.#sent) if (sentMs >= sinceMs) this.#all.push({ ...held, isInPart: true });
    this.#sent = [];
  }

  drop(held: HeldShard): void {
    this.#all.splice(this.#all.indexOf(held), 1);
    if (this.#current === held) this.#current = undefined;
  }

  clear(): void {
    this.#all = [];
    this.#sent = [];
    this.#current = undefined;
  }
}
