import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Lease } from '@halogrid/proto';
import { SourceBlock } from '@halogrid/sources/source-block';
import { JobObjects } from '../output/bucket/job-objects.ts';
import type { LeaseId } from '../scheduler/events.ts';

/** The files of a job that nodes with its token may read and write. */
export interface HandedJob {
  readonly token: string;
  /** Folder URI for chunks and parts. */
  readonly scratch: string;
  /** Where they are kept for other coordinators; undefined if these do not need them. */
  readonly objects: Pick<JobObjects, 'keep'> | undefined;
  /** The names of its pipelines; empty if they have none. */
  readonly pipelines: readonly string[];
  /** The sources of the leases that nodes hold, by their index in the job. */
  readonly sources: ReadonlyMap<number, HandedSource>;
}

/** A file; if there is a version, only that one may be handed over. */
interface HandedFile {
  uri: string;
  version?: string;
}

interface HandedSource extends HandedFile {
  mask?: HandedFile;
  leases: number;
}

type Held = { sources: Map<number, HandedSource> } & HandedJob;

/**
 * Which files nodes without our storage may have: the files of the leases that they hold. Nodes with our storage send
 * results in this way if other coordinators need them. While a job has leases, all
 * of them have the same token, so that a node can keep what it has decoded.
 */
export class HandOver {
  readonly #jobs = new Map<string, Held>();

  /** Undefined if no lease of the job is held, or its token is another. */
  find(jobId: string, token: string): HandedJob | undefined {
    const job = this.#jobs.get(jobId);
    const given = Buffer.from(token);
    const known = Buffer.from(job?.token ?? '');
    return given.length === known.length && timingSafeEqual(given, known) ? job : undefined;
  }

  /** The leases of one node. */
  openSession(): HandOverSession {
    const leases = new Map<string, Lease>();
    const release = (key: string): void => {
      const lease = leases.get(key);
      leases.delete(key);
      if (lease) this.#release(lease);
    };
    return {
      grant: (lease, objects) => {
        const token = this.#hold(lease, objects);
        leases.set(keyOf(lease), lease);
        return { ...lease, handOver: `/handover/${encodeURIComponent(lease.jobId)}/${token}` };
      },
      release: (lease) => release(keyOf(lease)),
      recall: (jobId, shards) => {
        for (const [key, lease] of leases) {
          if (lease.jobId === jobId && (shards.length === 0 || shards.includes(lease.shard))) release(key);
        }
      },
      close: () => {
        for (const key of leases.keys()) release(key);
      },
    };
  }

  #hold(lease: Lease, objects: string | undefined): string {
    const { jobId, scratch, pipelines } = lease;
    let job = this.#jobs.get(jobId);
    if (!job) {
      const names = pipelines?.named.map(({ name }) => name) ?? [];
      const token = randomBytes(32).toString('base64url');
      const kept = JobObjects.of({ objects, scratch });
      job = { token, scratch, objects: kept, pipelines: names, sources: new Map() };
      this.#jobs.set(jobId, job);
    }
    for (const { index, ...source } of sourcesOf(lease)) {
      job.sources.set(index, { ...source, leases: (job.sources.get(index)?.leases ?? 0) + 1 });
    }
    return job.token;
  }

  #release(lease: Lease): void {
    const { jobId } = lease;
    const job = this.#jobs.get(jobId)!;
    for (const { index } of sourcesOf(lease)) {
      const source = job.sources.get(index)!;
      if (--source.leases === 0) job.sources.delete(index);
    }
    if (job.sources.size === 0) this.#jobs.delete(jobId);
  }
}

export interface HandOverSession {
  /** Returns the lease with the path of its files. `objects`: as in AcceptedJob. */
  grant(lease: Lease, objects?: string): Lease;
  /** The node has answered the lease. */
  release(lease: LeaseId): void;
  /** The node must forget its leases of these shards of the job; an empty list means all its leases of the job. */
  recall(jobId: string, shards: readonly number[]): void;
  /** The node is gone. */
  close(): void;
}

const keyOf = ({ jobId, shard, attempt, epoch }: LeaseId): string => `${jobId} ${shard} ${attempt} ${epoch}`;

function* sourcesOf({ sources, work }: Lease): Generator<{ index: number } & Omit<HandedSource, 'leases'>> {
  const segment = work?.$case === 'frames' ? work.value.segment : undefined;
  for (const { index, uri, pin, mask } of new SourceBlock(sources)) {
    const version = segment ? segment.version : pin;
    yield { index, uri, version, mask };
  }
}
