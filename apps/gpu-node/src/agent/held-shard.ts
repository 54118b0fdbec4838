import type { AttachRequest, HeldLease, Lease } from '@halogrid/proto';
import type { Answer } from './conversation.ts';

/** A shard that the coordinator was not answered yet. */
export interface HeldShard {
  readonly lease: Lease;
  /** What became of it while there was no connection. */
  readonly answer: Answer | undefined;
}

/** The report of an answer, which carries the identity of the lease as it is now. */
export function answerTo(
  { jobId, shard, attempt, epoch }: Lease,
  answer: Answer,
): NonNullable<AttachRequest['report']> {
  if (answer.kind === 'shardCompleted') return { $case: 'completed', value: { ...answer.report, epoch } };
  const { error, isOutput: output, isDevice: device, need = '' } = answer;
  return { $case: 'failed', value: { jobId, shard, attempt, epoch, error, output, device, need } };
}

/** Their leases, as hello names them. */
export function heldLeases(shards: ReadonlyMap<number, HeldShard>): HeldLease[] {
  return [...shards.values()].map(({ lease: { jobId, shard, attempt, epoch, verify = false } }) => {
    return { jobId, shard, attempt, epoch, verify };
  });
}

/** Those of the shards that the welcome names, under their new names. */
export function keepNamed(shards: ReadonlyMap<number, HeldShard>, kept: readonly HeldLease[]): Map<number, HeldShard> {
  const named = new Map<number, HeldShard>();
  for (const [leaseId, held] of shards) {
    const name = kept.find(({ jobId, shard, attempt }) => {
      return jobId === held.lease.jobId && shard === held.lease.shard && attempt === held.lease.attempt;
    });
    if (name) named.set(leaseId, { ...held, lease: { ...held.lease, epoch: name.epoch } });
  }
  return named;
}
