import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Lease } from '@halogrid/proto';
import { SourceBlock } from '@halogrid/sources/source-block';
import type { LeaseId } from '../scheduler/events.ts';

/** What is handed over of a job, to whoever has its token. */
export interface HandedJob {
  readonly token: string;
  /** Folder URI for chunks. */
  readonly scratch: string;
  /** Names of its pipelines, where they have some. */
  readonly pipelines: readonly string[];
  /** URIs of the sources of the leases that are held, by their index in the job. */
  readonly sources: ReadonlyMap<number, HandedSource>;
}

interface HandedSource {
  uri: string;
  /** Where only that version may be handed over. */
  version?: string;
  leases: number;
}

type Held = { sources: Map<number, HandedSource> } & HandedJob;

/**
 * Which files of which jobs nodes without our storage may have: those of the leases that they hold. The token of a job
 * is the same for all of them while there is one, so that a node keeps what it has decoded.
 */
export class HandOver {
  readonly #jobs = new Map<string, Held>();

  /** Undefined where the token is not that of a job with a lease that is held. */
  find(jobId: string, token: string): HandedJob | undefined {
    const job = this.#jobs.get(jobId);
    const given = Buffer.from(token);
    const known = Buffer.from(job?.token ?? '');
    return given.length === known.length && timingSafeEqual(given, known) ? job : undefined;
  }

  /** What one node holds. */
  openSession(): HandOverSession {
    const leases = new Map<string, Lease>();
    const release = (key: string): void => {
      const lease = leases.get(key);
      leases.delete(key);
      if (lease) this.#release(lease);
    };
    return {
      grant: (lease) => {
        const token = this.#hold(lease);
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

  #hold(lease: Lease): string {
    const { jobId, scratch, pipelines } = lease;
    let job = this.#jobs.get(jobId);
    if (!job) {
      const names = pipelines?.named.map(({ name }) => name) ?? [];
      job = { token: randomBytes(32).toString('base64url'), scratch, pipelines: names, sources: new Map() };
      this.#jobs.set(jobId, job);
    }
    for (const { index, uri, version } of sourcesOf(lease)) {
      job.sources.set(index, { uri, version, leases: (job.sources.get(index)?.leases ?? 0) + 1 });
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
  /** The lease with the path at which its files are. */
  grant(lease: Lease): Lease;
  /** The node has answered it. */
  release(lease: LeaseId): void;
  /** The node is to forget these shards of the job; all of them where none is named. */
  recall(jobId: string, shards: readonly number[]): void;
  /** The node is gone. */
  close(): void;
}

const keyOf = ({ jobId, shard, attempt, epoch }: LeaseId): string => `${jobId} ${shard} ${attempt} ${epoch}`;

/** The version is the one that may be handed over, if only one may. */
function* sourcesOf({ sources, work }: Lease): Generator<{ index: number; uri: string; version?: string }> {
  const segment = work?.$case === 'frames' ? work.value.segment : undefined;
  for (const { index, uri, pin } of new SourceBlock(sources)) {
    const version = segment ? segment.version : pin;
    yield { index, uri, ...(version !== undefined && { version }) };
  }
}
