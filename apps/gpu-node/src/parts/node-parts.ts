import type { FoundInPart, Lease } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { mostWaiting } from '@halogrid/results/part-bounds';
import { OutputError } from './output-error.ts';

/** Fills parts of one job, one after another, and writes them. */
export interface JobParts {
  /** Adds a shard to the part. Resolves once the part would survive a failure of the machine. */
  add(shard: FoundShard): Promise<KeptShard>;
  /** The summary of a shard, without writing it. */
  sum(shard: FoundShard): Promise<KeptShard>;
  /** Ends the part being filled, if there is one. */
  flush(): void;
  /** Called once no call is awaited any more. */
  close(): Promise<void>;
}

/** The summary of a shard, and the seconds in which it was packed, added up and written. */
export interface KeptShard {
  found: FoundInPart;
  seconds: number;
}

/** A shard that is under way. */
export interface HeldShard {
  /**
   * Resolves with the summary once the results would survive a failure of the machine. Results of a lease to verify are
   * only added up. `waits` is called if the shard waits in its part for other shards, and there is room for more
   * results. Rejects with OutputError.
   */
  keep(shard: FoundShard, waits?: () => void): Promise<KeptShard>;
  /** Called once, when the shard has ended. */
  release(): void;
}

/** A job with shards under way. */
interface Job {
  shards: number;
  /** Set once a shard has results. */
  opening?: Promise<JobParts>;
  parts?: JobParts;
}

/**
 * The parts that a node writes: one at a time for each job with shards under way. A part ends by itself after some
 * time, bytes or shards, and at once if no shard is being computed.
 */
export class NodeParts {
  readonly #openParts: (lease: Lease) => Promise<JobParts>;
  readonly #jobs = new Map<string, Job>();
  /** Shards that are being computed, not those that wait for their part. */
  #atWork = 0;
  /** Shards whose part is not durable yet, and the bytes of their counts. */
  readonly #waiting = { shards: 0, bytes: 0 };

  constructor(openParts: (lease: Lease) => Promise<JobParts>) {
    this.#openParts = openParts;
  }

  /** Registers a shard of any kind as under way. Its job keeps its parts until the shard is released. */
  hold(lease: Lease): HeldShard {
    const key = [lease.jobId, lease.handOver || lease.scratch].join(' ');
    const job = this.#jobs.get(key) ?? { shards: 0 };
    this.#jobs.set(key, job);
    job.shards++;
    this.#atWork++;
    let isAtWork = true;
    const rest = (): void => {
      if (isAtWork && --this.#atWork === 0) for (const { parts } of this.#jobs.values()) parts?.flush();
      isAtWork = false;
    };
    return {
      keep: async (shard, waits) => {
        const bytes = countsBytes(shard);
        this.#count(1, bytes);
        try {
          const parts = await this.#open(job, lease);
          const kept = lease.verify ? parts.sum(shard) : parts.add(shard);
          rest();
          if (!lease.verify && this.#atWork > 0 && this.#hasRoom()) waits?.();
          return await kept;
        } catch (error) {
          throw new OutputError(error);
        } finally {
          this.#count(-1, -bytes);
        }
      },
      release: () => {
        rest();
        if (--job.shards > 0) return;
        this.#jobs.delete(key);
        void job.parts?.close();
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#jobs.values(), ({ parts }) => parts?.close()));
  }

  #count(shards: number, bytes: number): void {
    this.#waiting.shards += shards;
    this.#waiting.bytes += bytes;
  }

  #hasRoom(): boolean {
    const { shards, bytes } = this.#waiting;
    return shards <= mostWaiting.shards && bytes <= mostWaiting.bytes;
  }

  /** If opening fails, the next shard tries again. */
  #open(job: Job, lease: Lease): Promise<JobParts> {
    job.opening ??= this.#openParts(lease).then(
      (parts) => {
        job.parts = parts;
        return parts;
      },
      (error) => {
        job.opening = undefined;
        throw error;
      },
    );
    return job.opening;
  }
}

const countsBytes = ({ parts }: FoundShard): number => parts.reduce((sum, its) => sum + (its?.bins.byteLength ?? 0), 0);
