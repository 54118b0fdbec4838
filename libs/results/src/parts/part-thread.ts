import { type Transferable, Worker } from 'node:worker_threads';
import {
  LateThread,
  type PackedSystemError,
  packSystemError,
  sayEnd,
  ThreadClient,
  unpackSystemError,
} from '@halogrid/threads';
import { binsOfSource, type HistogramShape } from '../counts/histogram-shape.ts';
import type { EarlierPipeline } from './earlier-counts.ts';
import type { EarlierShard } from './earlier-reader.ts';
import { countsOfSource } from './earlier-runs.ts';
import type { FoundShard, ShardSummary } from './found-shard.ts';
import { obeyPartOrders } from './obey-part-orders.ts';
import type { DurableShard, PartTask } from './part-buffer.ts';
import type { PartAnswer, PartOrder } from './part-order.ts';
import type { FoundInPart } from './part-writer.ts';

export type { PartTask };

/**
 * How many counts the calling thread packs first, in 10 ms: starting another thread takes 50 ms of a core (measured).
 */
const fewCounts = 2 ** 18;

/**
 * Packs shards and writes them as parts, on a separate thread, which starts once the shards have more than a few
 * counts. The memory of a shard's counts is transferred: the caller loses access. After a failure of the thread,
 * another one starts with the next shard.
 */
export class PartThread {
  readonly #thread = new LateThread<PartOrder, PartAnswer>(start);
  /** The folders for which the thread may have an unfinished part. */
  readonly #folders = new Set<string>();
  readonly #obeyHere = obeyPartOrders();
  /** How many counts the calling thread may still pack. */
  #fewCounts: number;

  /** `few` is the number of counts that the calling thread packs first. */
  constructor(few = fewCounts) {
    this.#fewCounts = few;
  }

  /**
   * Does what PartBuffer.add does, for the parts in the folder of `task`. `took` is called with the shard's share of
   * the seconds in which its part was packed and written. Rejects with an error that has the code of the causing system
   * error, if any.
   */
  async add(task: PartTask, shard: FoundShard, took?: (seconds: number) => void): Promise<FoundInPart> {
    const shapes = task.pipelines.map(({ shape }) => shape);
    const added = this.#order((sent) => ({ kind: 'add', task, shard: sent }), shard, shapes, task.folder);
    const { found, seconds } = (await added) as DurableShard;
    took?.(seconds);
    return found;
  }

  /**
   * Writes the earlier results of shards, as EarlierReader reads them, to a part in the folder of `task`, and ends the
   * part. Rejects as EarlierReader and `add` do.
   */
  async keep(
    task: PartTask,
    earlier: readonly EarlierPipeline[],
    shards: readonly (EarlierShard & { count: number })[],
  ): Promise<FoundInPart[]> {
    const sources = shards.reduce((sum, { count }) => sum + count, 0);
    const counts = sources * countsOfSource(earlier);
    const order: PartOrder = { kind: 'keep', task, earlier, shards };
    const kept = (await (this.#areFew(counts)
      ? this.#obey(order)
      : this.#client(task.folder).order(order))) as DurableShard[];
    return kept.map(({ found }) => found);
  }

  /** Ends the part in `folder`, because no other shard is on its way to it. Resolves when its shards have settled. */
  async flush(folder: string): Promise<void> {
    const order: PartOrder = { kind: 'flush', folder };
    await this.#obeyHere(order);
    if (this.#folders.has(folder)) await this.#thread.client.order(order);
  }

  /** Does what `flush` does, and forgets the folder, because its job has ended. */
  async forget(folder: string): Promise<void> {
    const order: PartOrder = { kind: 'forget', folder };
    await this.#obeyHere(order);
    if (this.#folders.delete(folder)) await this.#thread.client.order(order);
  }

  /** The summary of a shard, which is not written. */
  async summarise(shard: FoundShard, shapes: readonly HistogramShape[]): Promise<ShardSummary> {
    return (await this.#order((sent) => ({ kind: 'summarise', shapes, shard: sent }), shard, shapes)) as ShardSummary;
  }

  /** Ends the thread between two of its tasks. An open part is left unfinished. */
  async end(): Promise<void> {
    await this.#thread.end();
  }

  #order(
    of: (sent: FoundShard) => PartOrder,
    shard: FoundShard,
    shapes: readonly HistogramShape[],
    folder?: string,
  ): Promise<PartAnswer> {
    const countsOfSource = shapes.reduce((sum, shape) => sum + binsOfSource(shape), 0);
    if (this.#areFew(shard.found.length * countsOfSource)) return this.#obey(of(shard));
    // A copy, because a view would be sent with its whole buffer, which may be that of a message.
    const block = Uint8Array.from(shard.block);
    const bins = shard.parts.flatMap((its) => its?.bins ?? []);
    const moved = new Set<ArrayBufferLike>([block, ...bins].map(({ buffer }) => buffer));
    return this.#client(folder).order(of({ ...shard, block }), [...moved] as Transferable[]);
  }

  /** Whether counts are packed by this thread. */
  #areFew(counts: number): boolean {
    const areFew = counts <= this.#fewCounts;
    this.#fewCounts = areFew ? this.#fewCounts - counts : 0;
    return areFew;
  }

  #obey(order: PartOrder): Promise<PartAnswer> {
    return this.#obeyHere(order).catch((error) => {
      throw unpackSystemError(packSystemError(error));
    });
  }

  #client(folder: string | undefined): ThreadClient<PartOrder, PartAnswer> {
    if (folder !== undefined) this.#folders.add(folder);
    return this.#thread.client;
  }
}

/**
 * The limit of the thread's young generation, because the garbage of a shard lives only for milliseconds. After 600,000
 * frames of 256 bins, a node had 390 MB resident; with Node's own limit it had 490 MB, for the same processor time
 * (measured).
 */
const resourceLimits = { maxYoungGenerationSizeMb: 24 };

const start = () =>
  new ThreadClient<PartOrder, PartAnswer>(
    new Worker(new URL('./part-worker.ts', import.meta.url), { resourceLimits }),
    {
      ended: (end) => new Error(`The thread that writes parts has ended: ${sayEnd(end)}`),
      unpack: (error) => unpackSystemError(error as PackedSystemError),
    },
  );
