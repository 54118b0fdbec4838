import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LostLeases } from './lost-leases.ts';

const lease = (shard: number, attempt: number, jobId = 'job') => ({ jobId, shard, attempt, epoch: 1 });

test('a lease that is lost expires once, when its shard is leased again or over', () => {
  const leases = new LostLeases();
  leases.lost(lease(3, 1));
  assert.deepEqual([leases.expire('job', 3), leases.expire('job', 3)], [1, 0]);
});

test('a lease that its node brings back does not expire, but another lease of the same shard does', () => {
  const leases = new LostLeases();
  leases.lost(lease(3, 1));
  leases.lost(lease(3, 2));
  leases.broughtBack(lease(3, 1));
  assert.equal(leases.expire('job', 3), 1);
});

test('a lease expires when its shard goes to another node, even if it is brought back later', () => {
  const leases = new LostLeases();
  leases.lost(lease(3, 1));
  assert.equal(leases.expire('job', 3), 1);
  leases.broughtBack(lease(3, 1));
  assert.equal(leases.expire('job', 3), 0);
});

test('at the end of a job all its lost leases expire, and lost leases of other jobs do not', () => {
  const leases = new LostLeases();
  for (const shard of [1, 2, 2]) leases.lost(lease(shard, 1));
  leases.lost(lease(2, 2));
  leases.lost(lease(1, 1, 'other'));
  assert.equal(leases.expireJob('job'), 3);
  assert.deepEqual([leases.expireJob('job'), leases.expireJob('other')], [0, 1]);
});
