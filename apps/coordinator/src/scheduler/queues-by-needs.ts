import { type Shard, sourcesIn } from '@halogrid/jobs/shard';
import { ShardQueue } from './shard-queue.ts';

interface Needing {
  readonly shard: Shard;
}

/** The key for shards without needs. */
const nothing: readonly string[] = [];

/**
 * Shards that wait for a node, in a queue for each set of needs, so that shards that a node cannot do never hide others
 * that it can. A job has few such sets (see needs-of.ts).
 */
export class QueuesByNeeds<Entry extends Needing> {
  readonly #queues = new Map<readonly string[], ShardQueue<Entry>>();
  #size = 0;
  #weight = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of sources in all entries. */
  get weight(): number {
    return this.#weight;
  }

  push(entry: Entry): void {
    const needs = needsOf(entry);
    let queue = this.#queues.get(needs);
    if (!queue) {
      queue = new ShardQueue<Entry>();
      this.#queues.set(needs, queue);
    }
    queue.push(entry);
    this.#size++;
    this.#weight += sourcesIn(entry.shard.work);
  }

  /**
   * The accepted entry that is first in the plan, near the front of a queue whose needs are met. It stays in its queue.
   */
  find(canDo: (needs: readonly string[]) => boolean, accepts: (entry: Entry) => boolean): Entry | undefined {
    let first: Entry | undefined;
    for (const [needs, queue] of this.#queues) {
      if (needs !== nothing && !canDo(needs)) continue;
      const found = queue.find(accepts);
      if (found && (!first || found.shard.shard < first.shard.shard)) first = found;
    }
    return first;
  }

  /** Removes an entry that `find` returned. */
  remove(entry: Entry): void {
    const needs = needsOf(entry);
    const queue = this.#queues.get(needs)!;
    queue.remove(entry);
    if (queue.size === 0) this.#queues.delete(needs);
    this.#size--;
    this.#weight -= sourcesIn(entry.shard.work);
  }
}

const needsOf = ({ shard: { needs } }: Needing): readonly string[] => (needs?.length ? needs : nothing);
