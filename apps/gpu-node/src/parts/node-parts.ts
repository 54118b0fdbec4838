import type { FoundInPart, Lease } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { OutputError } from './output-error.ts';

/** Fills parts of one job, one after another, and writes them. */
export interface JobParts {
  /** Resolves once the part with the shard would outlast a failure of the machine. */
  add(shard: FoundShard): Promise<FoundInPart>;
  /** Says what the shard comes to; it is written nowhere. */
  sum(shard: FoundShard): Promise<FoundInPart>;
  /** Ends the part that is filled, where there is one. */
  flush(): void;
  /** Called once nothing is awaited any more. */
  close(): Promise<void>;
}

export interface NodePartsOptions {
  open: (lease: Lease) => JobParts;
  /** Decoded bytes that the node is leased at once. */
  creditBytes: number;
}

/** A shard that is under way. */
export interface HeldShard {
  /**
   * Resolves with what was found once that would outlast a failure of the machine. What is found for a lease to verify is only added up.
   * Rejects with OutputError.
   */
  keep(shard: FoundShard): Promise<FoundInPart>;
  /** Called once, when the shard is done with. */
  release(): void;
}

/** What waits in a part is this much of the node's credit at most: as long as it waits, nothing is leased in its place. */
const mostWaiting = 1 / 4;

/** A job with shards under way. */
interface Job {
  shards: number;
  /** Once something was found. */
  parts?: JobParts;
  /** Decoded bytes of the leases that wait in parts. */
  waitingBytes: number;
}

/**
 * The parts that a node writes: one at a time for each job with shards under way. A part ends by itself after some time or bytes, and at
 * once where the node has nothing else to do, or too much of its credit waits.
 */
export class NodeParts {
  readonly #options: NodePartsOptions;
  readonly #jobs = new Map<string, Job>();
  /** Shards that are under way and wait in no part. */
  #atWork = 0;

  constructor(options: NodePartsOptions) {
    this.#options = options;
  }

  /** Tells of a shard that is under way, whatever it is of: until it is released, its job has parts. */
  hold(lease: Lease): HeldShard {
    const key = [lease.jobId, lease.handOver || lease.scratch].join(' ');
    const job = this.#jobs.get(key) ?? { shards: 0, waitingBytes: 0 };
    this.#jobs.set(key, job);
    job.shards++;
    this.#atWork++;
    let isAtWork = true;
    const rest = (): void => {
      if (isAtWork && --this.#atWork === 0) for (const { parts } of this.#jobs.values()) parts?.flush();
      isAtWork = false;
    };
    return {
      keep: async (shard) => {
        job.parts ??= this.#options.open(lease);
        const kept = lease.verify ? job.parts.sum(shard) : this.#add(job, lease, shard);
        rest();
        return await kept;
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

  async #add(job: Job, { costBytes }: Lease, shard: FoundShard): Promise<FoundInPart> {
    const added = job.parts!.add(shard);
    job.waitingBytes += costBytes;
    if (job.waitingBytes >= mostWaiting * this.#options.creditBytes) job.parts!.flush();
    try {
      return await added;
    } catch (error) {
      throw new OutputError(error);
    } finally {
      job.waitingBytes -= costBytes;
    }
  }
}
