import type { LeaseId } from '../scheduler/events.ts';

/**
 * Leases whose nodes went away, until their outcome is known: if the node dials again and brings the shard along, its
 * lease did not expire. It did expire if the shard was leased again or is over.
 */
export class LostLeases {
  /** Numbers of the attempts, by job and shard. */
  readonly #attempts = new Map<string, Map<number, Set<number>>>();

  /** The node that held it went away. */
  lost({ jobId, shard, attempt }: LeaseId): void {
    const ofJob = this.#attempts.get(jobId) ?? new Map<number, Set<number>>();
    this.#attempts.set(jobId, ofJob.set(shard, (ofJob.get(shard) ?? new Set()).add(attempt)));
  }

  /** The node has brought the lease along, and goes on with it. */
  broughtBack({ jobId, shard, attempt }: LeaseId): void {
    this.#attempts.get(jobId)?.get(shard)?.delete(attempt);
  }

  /** The shard went to another node or is over: how many of its leases expired, which are forgotten. */
  expire(jobId: string, shard: number): number {
    const ofJob = this.#attempts.get(jobId);
    const expired = ofJob?.get(shard)?.size ?? 0;
    ofJob?.delete(shard);
    return expired;
  }

  /** The job is over: how many of its leases expired, which are forgotten. */
  expireJob(jobId: string): number {
    const shards = [...(this.#attempts.get(jobId)?.keys() ?? [])];
    const expired = shards.reduce((sum, shard) => sum + this.expire(jobId, shard), 0);
    this.#attempts.delete(jobId);
    return expired;
  }
}
