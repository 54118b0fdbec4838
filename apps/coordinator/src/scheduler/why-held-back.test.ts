import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scheduler } from './scheduler.ts';
import {
  committed,
  completed,
  type Event,
  failed,
  job,
  joined,
  lacked,
  lease,
  left,
  needing,
  shard,
  shards,
  shown,
} from './testing/scheduler-cases.ts';

const host = 'read http://host';
const lost = /^A shard was lost with its node 2 times, the last time with 'node-2'; it is leased again 600 s later/;

/** Two nodes are lost over the only shard, or over all of several, and a third attaches. */
const suspected: Event[] = [joined(1), left(1), joined(2), left(2), joined(3)];
const resumed: Event[] = [
  { kind: 'JobResumed', jobId: 'job', epoch: 8, planned: 1, kept: 0, open: [{ shard: shard(0), attempts: 1 }] },
];

const table: [what: string, events: Event[], said: RegExp | undefined][] = [
  ['two nodes were lost over its shard', [...job('job', shards(1)), ...suspected], lost],
  ['no node is attached', [...job('job', shards(1)), ...suspected.slice(0, -1)], undefined],
  ['one node was lost over its shard', [...job('job', shards(1)), ...suspected.slice(0, 2), joined(3)], undefined],
  ['others are computed', [...job('job', shards(1)), ...suspected, ...moreShards()], undefined],
  [
    'the only node failed its shard, and has computed nothing yet',
    [...job('job', shards(1)), joined(1), failed(1, lease(0))],
    /^A shard failed on the only node that can have it, which has computed nothing yet; it is leased again 600 s later: attach/,
  ],
  [
    'its shard fails on the node that reads from its host, and the other node does not reach the host',
    [
      ...[joined(1), joined(2), ...job('job', [needing(0, [host]), needing(1, [host])]), shown(1, host)],
      ...[lacked(2, host), completed(1, lease(0)), committed(0)],
      ...[failed(1, lease(1)), failed(1, lease(1, 2)), failed(1, lease(1, 3))],
    ],
    /^A shard failed 3 times, on every node that can have it now; it is leased again 600 s later: attach another node, or see what the others lack$/,
  ],
  [
    'an earlier coordinator leased its shards',
    [joined(1), ...resumed],
    /^Shards that an earlier coordinator leased are leased again 600 s later, unless nodes bring them back$/,
  ],
  ['it is done', [...job('job', shards(1)), joined(1), completed(1, lease(0))], undefined],
];

function moreShards(): Event[] {
  return [{ kind: 'ShardsPlanned', jobId: 'job', shards: [shard(1)] }];
}

for (const [what, events, said] of table) {
  test(`a job says ${said ? 'what it waits for' : 'nothing'} where ${what}`, () => {
    const scheduler = new Scheduler({ epoch: 7, reportWithinMs: 600_000, tickMs: 1000 });
    for (const event of events) scheduler.handle(event, 0);
    const why = scheduler.whyHeldBack('job', 0);
    if (said) assert.match(why!, said);
    else assert.equal(why, undefined);
    assert.equal(scheduler.whyHeldBack('job', 600_000), undefined);
  });
}
