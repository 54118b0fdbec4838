import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { maxUnwrittenBytes } from './choose-job.ts';
import type { Comparable, SchedulerEvent } from './events.ts';
import { Scheduler } from './scheduler.ts';

test('a job whose ledger cannot keep up waits for it, and other jobs do not', () => {
  const scheduler = new Scheduler<Comparable>({ epoch: 1, reportWithinMs: 1000, tickMs: 100 });
  const leaseOf = (shard: number, jobId: string) => ({ jobId, shard, attempt: 1, epoch: 1 });
  const mostAnswers = 16;
  const answer = { digest: 'right', bytes: maxUnwrittenBytes / mostAnswers };
  /** The shards that are leased because of the event. */
  const leasedBy = (event: SchedulerEvent<Comparable>): string[] =>
    scheduler.handle(event, 0).flatMap((command) => {
      return command.kind === 'AssignShard' ? `${command.lease.jobId}/${command.lease.shard}` : [];
    });
  const plan = (jobId: string, count: number): string[] => {
    scheduler.handle({ kind: 'JobSubmitted', jobId }, 0);
    const work = { kind: 'frames' as const, sources: plannedSources([]) };
    const shards = Array.from({ length: count }, (_, shard) => ({ shard, work, costBytes: 1 }));
    return leasedBy({ kind: 'ShardsPlanned', jobId, shards });
  };
  const answered = (shard: number, jobId = 'slow'): string[] =>
    leasedBy({ kind: 'ShardCompleted', session: 1, lease: leaseOf(shard, jobId), answer });

  plan('slow', mostAnswers + 9);
  const held = leasedBy({ kind: 'NodeJoined', session: 1, nodeId: 'node', creditBytes: 4 });
  assert.deepEqual(held, ['slow/0', 'slow/1', 'slow/2', 'slow/3']);
  const last = mostAnswers - 1;
  for (let shard = 0; shard < last; shard++) assert.deepEqual(answered(shard), [`slow/${shard + 4}`]);
  assert.deepEqual(answered(last), []);
  assert.deepEqual(plan('other', 1), ['other/0']);
  assert.deepEqual(answered(0, 'other'), []);
  assert.deepEqual(leasedBy({ kind: 'CommitFinished', jobId: 'slow', shard: 3 }), [`slow/${last + 4}`]);

  // A refused commit makes room as well, first for the same shard.
  assert.deepEqual(answered(last + 1), []);
  const refused = { kind: 'CommitRejected' as const, lease: leaseOf(5, 'slow'), error: 'It cannot be right' };
  assert.deepEqual(leasedBy(refused), ['slow/5']);
});
