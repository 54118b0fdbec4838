import { type Transferable, Worker } from 'node:worker_threads';
import {
  LateThread,
  type PackedError,
  packSystemError,
  sayEnd,
  ThreadClient,
  unpackSystemError,
} from '@halogrid/threads';
import type { HistogramShape } from '../counts/histogram-shape.ts';
import type { FoundShard, ShardSummary } from './found-shard.ts';
import { obeyPartOrders } from './obey-part-orders.ts';
import type { DurableShard, PartTask } from './part-buffer.ts';
import type { PartAnswer, PartOrder } from './part-order.ts';
import type { FoundInPart } from './part-writer.ts';

/** So many counts are packed by the thread that has them, in 10 ms: to start another takes 50 ms of a core (measured). */
const fewCounts = 2 ** 18;

/**
 * Packs shards and writes them as parts, on a thread of its own, which starts once the shards have more than a few
 * counts. The memory of the counts of a shard changes hands: the caller does not have them any more. After a failure of
 * the thread, another one starts with the next shard.
 */
export class PartThread {
  readonly #thread = new LateThread<PartOrder, PartAnswer>(start);
  /** Those that the thread may have a part for. */
  readonly #folders = new Set<string>();
  readonly #obeyHere = obeyPartOrders();
  /** Counts that are still packed by this thread. */
  #fewCounts: number;

  /** `few`: the first counts, which are packed by the calling thread. */
  constructor(few = fewCounts) {
    this.#fewCounts = few;
  }

  /**
   * As PartBuffer.add, of the parts in the folder of `task`; `took` is told the shard's share of the seconds in which its part was packed and
   * written. Rejects with an error that has the code of a system error that is the cause.
   */
  async add(task: PartTask, shard: FoundShard, share: number, took?: (seconds: number) => void): Promise<FoundInPart> {
    const added = this.#order((sent) => ({ kind: 'add', task, shard: sent, share }), shard, task.folder);
    const { found, seconds } = (await added) as DurableShard;
    took?.(seconds);
    return found;
  }

  /** Ends the part in that folder: nothing else is on its way to it. Resolves when its shards have settled. */
  async flush(folder: string): Promise<void> {
    const order: PartOrder = { kind: 'flush', folder };
    await this.#obeyHere(order);
    if (this.#folders.has(folder)) await this.#thread.client.order(order);
  }

  /** As `flush`, of a job that is over. */
  async forget(folder: string): Promise<void> {
    const order: PartOrder = { kind: 'forget', folder };
    await this.#obeyHere(order);
    if (this.#folders.delete(folder)) await this.#thread.client.order(order);
  }

  /** The summary of a shard that is not written. */
  async summarise(shard: FoundShard, shapes: readonly HistogramShape[]): Promise<ShardSummary> {
    return (await this.#order((sent) => ({ kind: 'summarise', shapes, shard: sent }), shard)) as ShardSummary;
  }

  /** Ends the thread between two of its tasks. A part that grows is left unfinished. */
  async end(): Promise<void> {
    await this.#thread.end();
  }

  #order(of: (sent: FoundShard) => PartOrder, shard: FoundShard, folder?: string): Promise<PartAnswer> {
    const counts = shard.parts.reduce((sum, { bins }) => sum + bins.length, 0);
    if (counts <= this.#fewCounts) {
      this.#fewCounts -= counts;
      return this.#obeyHere(of(shard)).catch((error) => {
        throw unpackSystemError(packSystemError(error));
      });
    }
    this.#fewCounts = 0;
    if (folder !== undefined) this.#folders.add(folder);
    // A view would be sent with all the memory that it is a view of, such as a message.
    const block = Uint8Array.from(shard.block);
    const moved = new Set<ArrayBufferLike>([block, ...shard.parts.map(({ bins }) => bins)].map(({ buffer }) => buffer));
    return this.#thread.client.order(of({ ...shard, block }), [...moved] as Transferable[]);
  }
}

/**
 * What a shard leaves behind in the young generation of the thread's heap lives for milliseconds. With Node's own limit a node had 490 MB
 * resident after 600,000 frames of 256 bins, with this one 390, for the same processor time (measured).
 */
const resourceLimits = { maxYoungGenerationSizeMb: 24 };

const start = () =>
  new ThreadClient<PartOrder, PartAnswer>(
    new Worker(new URL('./part-worker.ts', import.meta.url), { resourceLimits }),
    {
      ended: (end) => new Error(`The thread that writes parts has ended: ${sayEnd(end)}`),
      unpack: (error) => unpackSystemError(error as PackedError),
    },
  );
