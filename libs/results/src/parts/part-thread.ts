import { type Transferable, Worker } from 'node:worker_threads';
import { LateThread, type PackedError, sayEnd, ThreadClient, unpackSystemError } from '@halogrid/threads';
import type { HistogramShape } from '../counts/histogram-shape.ts';
import type { FoundShard, ShardSummary } from './found-shard.ts';
import type { DurableShard, PartTask } from './part-buffer.ts';
import type { PartAnswer, PartOrder } from './part-order.ts';
import type { FoundInPart } from './part-writer.ts';

/**
 * Packs shards and writes them as parts, on a thread of its own, which starts with the first. The memory of the counts of a shard changes
 * hands: who has added it has them no more. After a failure of the thread, another one starts with the next shard.
 */
export class PartThread {
  readonly #thread = new LateThread<PartOrder, PartAnswer>(start);
  /** Those that the thread may have a part for. */
  readonly #folders = new Set<string>();

  /**
   * As PartBuffer.add, of the parts in the folder of `task`; `took` is told the shard's share of the seconds in which its part was packed and
   * written. Rejects with an error that has the code of a system error that is the cause.
   */
  async add(task: PartTask, shard: FoundShard, share: number, took?: (seconds: number) => void): Promise<FoundInPart> {
    this.#folders.add(task.folder);
    const added = this.#order((sent) => ({ kind: 'add', task, shard: sent, share }), shard);
    const { found, seconds } = (await added) as DurableShard;
    took?.(seconds);
    return found;
  }

  /** Ends the part in that folder: nothing else is on its way to it. Resolves when its shards have settled. */
  async flush(folder: string): Promise<void> {
    if (this.#folders.has(folder)) await this.#thread.client.order({ kind: 'flush', folder });
  }

  /** As `flush`, of a job that is over. */
  async forget(folder: string): Promise<void> {
    if (this.#folders.delete(folder)) await this.#thread.client.order({ kind: 'forget', folder });
  }

  /** The summary of a shard that is not written. */
  async summarise(shard: FoundShard, shapes: readonly HistogramShape[]): Promise<ShardSummary> {
    return (await this.#order((sent) => ({ kind: 'summarise', shapes, shard: sent }), shard)) as ShardSummary;
  }

  /** Ends the thread between two of its tasks. A part that grows is left unfinished. */
  async end(): Promise<void> {
    await this.#thread.end();
  }

  #order(of: (sent: FoundShard) => PartOrder, shard: FoundShard): Promise<PartAnswer> {
    // A view would be sent with all the memory that it is a view of, such as a message.
    const block = Uint8Array.from(shard.block);
    const moved = new Set<ArrayBufferLike>([block, ...shard.parts.map(({ bins }) => bins)].map(({ buffer }) => buffer));
    return this.#thread.client.order(of({ ...shard, block }), [...moved] as Transferable[]);
  }
}

const start = () =>
  new ThreadClient<PartOrder, PartAnswer>(new Worker(new URL('./part-worker.ts', import.meta.url)), {
    ended: (end) => new Error(`The thread that writes parts has ended: ${sayEnd(end)}`),
    unpack: (error) => unpackSystemError(error as PackedError),
  });
