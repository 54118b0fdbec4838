import type { KeptShard } from '@halogrid/jobs/shard';
import type { FoundInPart } from '@halogrid/results/part-writer';
import type { KeptReader } from '../output/previous/kept-reader.ts';

interface Waiting {
  shard: KeptShard;
  kept: PromiseWithResolvers<FoundInPart>;
}

/**
 * Has kept results read from the earlier output, in batches: each batch holds the shards that were planned while the
 * one before was read. The coordinator does these shards itself, because planning a kept source takes about as long as
 * reading it, and a job that keeps everything must end without nodes. No count of shards includes them.
 */
export class KeptShards {
  readonly #read: KeptReader['keep'];
  readonly #readSome: () => void;
  readonly #waiting: Waiting[] = [];
  #sources = 0;
  #reading: Promise<void> | undefined;

  /** `readSome` is called when fewer shards wait. */
  constructor(read: KeptReader['keep'], readSome: () => void) {
    this.#read = read;
    this.#readSome = readSome;
  }

  /** The number of sources in shards that wait. */
  get sources(): number {
    return this.#sources;
  }

  /** Resolves when the shard's kept results are in a part. */
  add(shard: KeptShard): Promise<FoundInPart> {
    const kept = Promise.withResolvers<FoundInPart>();
    this.#waiting.push({ shard, kept });
    this.#sources += shard.work.sources.count;
    this.#reading ??= this.#readAll();
    return kept.promise;
  }

  /** Resolves when nothing is being read. */
  async end(): Promise<void> {
    await this.#reading;
  }

  async #readAll(): Promise<void> {
    // Shards that are added in the same turn join the first batch.
    await undefined;
    while (this.#waiting.length > 0) {
      try {
        const found = await this.#read(this.#waiting.map(({ shard }) => shard));
        for (const [i, { kept }] of this.#take(found.length).entries()) kept.resolve(found[i]!);
      } catch (error) {
        for (const { kept } of this.#take(this.#waiting.length)) kept.reject(error);
      }
      this.#readSome();
    }
    this.#reading = undefined;
  }

  #take(count: number): Waiting[] {
    const taken = this.#waiting.splice(0, count);
    for (const { shard } of taken) this.#sources -= shard.work.sources.count;
    return taken;
  }
}
