import type { FoundInPart, Lease } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { OutputError } from './output-error.ts';

/** Fills parts of one job, one after another, and writes them. */
export interface JobParts {
  /**
   * Adds a shard to the part. Resolves once the part would survive a failure of the machine. `share`: the shard's share
   * of the node's credit, which it uses until then.
   */
  add(shard: FoundShard, share: number): Promise<KeptShard>;
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

export interface NodePartsOptions {
  open: (lease: Lease) => Promise<JobParts>;
  /** Decoded bytes that the node is leased at once. */
  creditBytes: number;
}

/** A shard that is under way. */
export interface HeldShard {
  /**
   * Resolves with the summary once the results would survive a failure of the machine. Results of a lease to verify are
   * only added up. Rejects with OutputError.
   */
  keep(shard: FoundShard): Promise<KeptShard>;
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
 * time, bytes or share of the node's credit, and at once if no shard is being computed.
 */
export class NodeParts {
  readonly #options: NodePartsOptions;
  readonly #jobs = new Map<string, Job>();
  /** Shards that are being computed, not those that wait for their part. */
  #atWork = 0;

  constructor(options: NodePartsOptions) {
    this.#options = options;
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
      keep: async (shard) => {
        const share = lease.costBytes / this.#options.creditBytes;
        try {
          const parts = await this.#open(job, lease);
          const kept = lease.verify ? parts.sum(shard) : parts.add(shard, share);
          rest();
          return await kept;
        } catch (error) {
          throw new OutputError(error);
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

  /** If opening fails, the next shard tries again. */
  #open(job: Job, lease: Lease): Promise<JobParts> {
    job.opening ??= this.#options.open(lease).then(
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
