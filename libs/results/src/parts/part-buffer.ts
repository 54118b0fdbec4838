import { join } from 'node:path';
import type { CaptureOptions } from '@halogrid/sources/captured';
import { endsPart, partBounds } from './ends-part.ts';
import type { FoundShard } from './found-shard.ts';
import { PartError } from './part-error.ts';
import { type FoundInPart, type PartPipeline, PartWriter } from './part-writer.ts';

/** The job whose parts are written. */
export interface PartTask {
  /** The folder of the job's parts. It is made if it is missing; the folder above it must exist. */
  folder: string;
  pipelines: readonly PartPipeline[];
  /** Where capture times come from; absent: from the files. */
  captured?: CaptureOptions;
}

/** A shard whose part is durable, and its share of the seconds in which the part was packed and written. */
export interface DurableShard {
  found: FoundInPart;
  seconds: number;
}

/** Writes shards of a job as parts, one part after another, and tells when the part of a shard is durable. */
export class PartBuffer {
  readonly #task: PartTask;
  /** The current task. Parts are written one at a time, so that a slow disk gets larger parts, not more of them. */
  #last: Promise<unknown> = Promise.resolve();
  /** The writer of the part before, unless that failed. */
  #before: PartWriter | undefined;
  /** The writer of the part that grows. */
  #writer: PartWriter | undefined;
  #waiting: PromiseWithResolvers<DurableShard>[] = [];
  #found: FoundInPart[] = [];
  #sinceMs = 0;
  /** Milliseconds spent on the part without the current task, and when that task began. */
  #spentMs = 0;
  #nowSinceMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(task: PartTask) {
    this.#task = task;
  }

  /**
   * Adds a shard, whose counts the caller gives away. Resolves when its part is durable. Rejects with PartError, as all
   * shards of the part do, if that cannot be written; nothing is left of the part then.
   */
  add(shard: FoundShard): Promise<DurableShard> {
    const durable = Promise.withResolvers<DurableShard>();
    this.#next(async () => {
      this.#waiting.push(durable);
      this.#writer ??= await this.#begin();
      this.#found.push(await this.#writer.add(shard));
      freeCounts(shard);
      if (this.#isToEnd(false)) await this.#end(this.#writer);
    });
    return durable.promise;
  }

  /** Ends the part, because no other shard is on its way to it. Resolves when its shards have settled. */
  flush(): Promise<void> {
    return this.#next(async () => {
      if (this.#writer && this.#isToEnd(true)) await this.#end(this.#writer);
    });
  }

  /** Runs a task after all earlier ones. If it fails, the part fails. */
  #next(act: () => Promise<void>): Promise<void> {
    const timed = async (): Promise<void> => {
      this.#nowSinceMs = performance.now();
      await act();
      if (this.#writer) this.#spentMs += performance.now() - this.#nowSinceMs;
    };
    const done = this.#last.then(timed).catch((error) => this.#fail(error));
    this.#last = done;
    return done;
  }

  #isToEnd(isIdle: boolean): boolean {
    const { shards, bytes } = this.#writer!;
    return endsPart({ ageMs: performance.now() - this.#sinceMs, bytes, shards, isIdle });
  }

  async #begin(): Promise<PartWriter> {
    const { folder, pipelines, captured } = this.#task;
    const writer = await (this.#before?.next() ?? PartWriter.create(folder, pipelines, captured));
    this.#sinceMs = performance.now();
    this.#timer = setTimeout(() => void this.flush(), partBounds.ageMs);
    return writer;
  }

  async #end(writer: PartWriter): Promise<void> {
    await writer.finish();
    this.#before = writer;
    const [waiting, found] = [this.#waiting, this.#found];
    const seconds = (this.#spentMs + performance.now() - this.#nowSinceMs) / 1000 / waiting.length;
    this.#clear();
    for (const [i, { resolve }] of waiting.entries()) resolve({ found: found[i]!, seconds });
  }

  async #fail(cause: Error): Promise<void> {
    const { folder } = this.#task;
    const part = this.#writer ? join(folder, this.#writer.id) : folder;
    const error = new PartError(part, `was not written: ${cause.message}`, cause);
    const [writer, waiting] = [this.#writer, this.#waiting];
    this.#clear();
    this.#before = undefined;
    await writer?.abort().catch(() => {});
    for (const { reject } of waiting) reject(error);
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#writer = undefined;
    this.#waiting = [];
    this.#found = [];
    this.#spentMs = 0;
  }
}

/**
 * Gives the memory of counts back at once. V8 would keep it until it collects the whole heap, and would do that once in
 * 40 shards because of it (measured with 128 frames of 256 bins per shard).
 */
function freeCounts({ parts }: FoundShard): void {
  for (const buffer of new Set(parts.flatMap((its) => (its ? (its.bins.buffer as ArrayBuffer) : []))))
    buffer.transfer(0);
}
