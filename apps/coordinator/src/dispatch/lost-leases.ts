import type { LeaseId } from '../scheduler/events.ts';

/**
 * Leases whose nodes went away, until it is known whether they expired. A lease has expired once its shard is leased
 * again or over, but not if the node comes back and brings the lease along first.
 */
export class LostLeases {
  /** Numbers of attempts, by job and shard. */
  readonly #attempts = new Map<string, Map<number, Set<number>>>();

  /** The node that held the lease went away. */
  lost({ jobId, shard, attempt }: LeaseId): void {
    const ofJob = this.#attempts.get(jobId) ?? new Map<number, Set<number>>();
    this.#attempts.set(jobId, ofJob.set(shard, (ofJob.get(shard) ?? new Set()).add(attempt)));
  }

  /** The node has brought the lease along, and goes on with it. */
  broughtBack({ jobId, shard, attempt }: LeaseId): void {
    this.#attempts.get(jobId)?.get(shard)?.delete(attempt);
  }

  /** The shard went to another node or is over. Forgets its leases, and returns how many expired. */
  expire(jobId: string, shard: number): number {
    const ofJob = this.#attempts.get(jobId);
    const expired = ofJob?.get(shard)?.size ?? 0;
    ofJob?.delete(shard);
    return expired;
  }

  /** The job is over. Forgets its leases, and returns how many expired. */
  expireJob(jobId: string): number {
    const shards = [...(this.#attempts.get(jobId)?.keys() ?? [])];
    const expired = shards.reduce((sum, shard) => sum + this.expire(jobId, shard), 0);
    this.#attempts.delete(jobId);
    return expired;
  }
}
