import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobState, JobStatus, JobTimes } from '@halogrid/proto';
import { boundOf, describeTimeSpent, whereTimeWent } from './where-time-went.js';

type Bound = ReturnType<typeof boundOf>;

/** A job of one node: half a second until the first shard, 4 s of computing, half a second of writing. */
const job = (times: Partial<JobTimes>, more: Partial<JobStatus> = {}): JobStatus =>
  JobStatus.fromPartial({
    state: JobState.COMPLETE,
    submittedMs: 1_000,
    finishedMs: 6_000,
    nodesUsed: 1,
    times: { leasedMs: 1_500, listedMs: 2_000, computedMs: 5_500, ...times },
    ...more,
  });

const table: [what: string, bound: Bound, times: Partial<JobTimes>, more?: Partial<JobStatus>][] = [
  [
    'a GPU that waits for JPEGs',
    'decode',
    {
      busySeconds: { read: 0.1, decode: 3.9, device: 0.24, encode: 0, shard: 4 },
      stageSeconds: { read: 0.1, decode: 30, upload: 0.1, compute: 0.1, readback: 0.04 },
    },
  ],
  [
    'a GPU that is full, while many shards are decoded ahead',
    'device',
    {
      busySeconds: { decode: 4, device: 3.6, shard: 4 },
      stageSeconds: { decode: 20, upload: 0.6, compute: 2.5, readback: 0.5 },
    },
  ],
  [
    'two threads of a CPU, which do both all the time, and decode more of it',
    'decode',
    { busySeconds: { decode: 3.9, device: 3.8, shard: 4 }, stageSeconds: { decode: 6, compute: 4.5 } },
  ],
  [
    'the same, and compute more of it',
    'device',
    { busySeconds: { decode: 3.6, device: 3.9, shard: 4 }, stageSeconds: { decode: 3.7, compute: 7 } },
  ],
  [
    'files that come slowly',
    'read',
    {
      busySeconds: { read: 3.8, decode: 1, device: 0.1, shard: 4 },
      stageSeconds: { read: 9, decode: 1, compute: 0.1 },
    },
  ],
  [
    'maps on a slow disk',
    'encode',
    {
      busySeconds: { decode: 1, device: 0.5, encode: 3.7, shard: 4 },
      stageSeconds: { decode: 1, compute: 0.5, encode: 5 },
    },
  ],
  [
    'a list that comes slowly',
    'listing',
    { listedMs: 5_490, busySeconds: { decode: 0.5, device: 0.1, shard: 0.7 }, stageSeconds: { decode: 0.5 } },
  ],
  [
    'nodes that had nothing to do though all was listed',
    'shards',
    { busySeconds: { decode: 0.5, device: 0.1, shard: 0.7 }, stageSeconds: { decode: 0.5 } },
  ],
  [
    'a GPU that always has a batch, and whose files are read meanwhile',
    'device',
    {
      busySeconds: {
        read: 3.3,
        decode: 0.2,
        device: 2.1,
        shard: 4,
        read_binds: 0.4,
        device_binds: 3.4,
        node_binds: 0.2,
      },
      stageSeconds: { read: 20, decode: 1, upload: 0.5, compute: 1.4 },
    },
  ],
  [
    'a GPU that waits for files, while some are always decoded',
    'read',
    {
      busySeconds: {
        read: 3.9,
        decode: 1.8,
        device: 0.2,
        shard: 4,
        read_binds: 2.1,
        decode_binds: 1.7,
        device_binds: 0.2,
      },
    },
  ],
  ['files of a slow server', 'network', { busySeconds: { read: 3.9, shard: 4, network_binds: 3.9, read_binds: 0 } }],
  ['a node that is too busy with itself', 'node', { busySeconds: { read: 1, shard: 4, read_binds: 1, node_binds: 3 } }],
  [
    'a coordinator that is late, though shards wait',
    'coordinator',
    { busySeconds: { decode: 0.5, device: 0.1, shard: 0.7, queued: 3.8 } },
  ],
  [
    'one shard that takes long at the end',
    'shards',
    { busySeconds: { decode: 0.5, device: 0.1, shard: 1.5, queued: 1.2 } },
  ],
  [
    'a host that was away, for which shards waited',
    'host',
    { busySeconds: { read: 0.5, shard: 0.7, queued: 3.8, 'away http://a:8080': 2.5, 'away s3://b': 0.5 } },
  ],
  [
    'a host that was away before the first shard',
    'host',
    { leasedMs: 5_000, busySeconds: { decode: 0.4, shard: 0.5, 'away s3://b': 3 } },
  ],
  [
    'a host that was away for a moment',
    'coordinator',
    { busySeconds: { decode: 0.5, shard: 0.7, queued: 3.8, 'away http://a:8080': 0.5 } },
  ],
  [
    'nodes that are at other jobs',
    'jobs',
    { busySeconds: { decode: 0.5, device: 0.1, shard: 0.7, queued: 3.8, others: 3.6 } },
  ],
  [
    'half of the time at other jobs',
    'device',
    { busySeconds: { decode: 0.5, device: 1.9, shard: 2.1, queued: 3.8, others: 3.6, device_binds: 2 } },
  ],
  ['a node that came late', 'start', { leasedMs: 5_000, busySeconds: { decode: 0.4, shard: 0.5 } }],
  ['large maps to be put together', 'writing', { computedMs: 2_500, busySeconds: { decode: 1, shard: 1 } }],
];

for (const [what, bound, times, more] of table) {
  test(`${what}: the bottleneck is ${bound}`, () => assert.equal(whereTimeWent(job(times, more))?.bound, bound));
}

test('seconds are means of the nodes, and never more than the job took', () => {
  const busySeconds = { decode: 7.8, device: 0.4, encode: 100, shard: 8 };
  const spent = whereTimeWent(job({ busySeconds }, { nodesUsed: 2 }))!;
  assert.deepEqual([spent.starting, spent.computing, spent.writing, spent.listing], [0.5, 4, 0.5, 1]);
  assert.deepEqual(spent.busy, { read: 0, decode: 0.975, device: 0.05, encode: 1, shard: 1 });
});

test('the time and the bottleneck are described in words', () => {
  const lines = (times: Partial<JobTimes>) => describeTimeSpent(whereTimeWent(job(times)));
  const stageSeconds = { decode: 30, compute: 0.24 };
  assert.deepEqual(lines({ busySeconds: { decode: 3.1, device: 0.24, shard: 4 }, stageSeconds }), [
    ['time', '0.50 s to the first shard, 4.00 s computing, 0.50 s writing'],
    ['bound by', 'decoding: running for 3.10 s of 4.00 s; the device was busy for 6 %'],
  ]);
  const bounds = table.map(([, , times]) => lines(times)[1]![1]!);
  assert.deepEqual(
    [1, 6, 7, 8, 9, 10, 11, 12, 14, 15, 17, 18, 19, 20].map((i) => bounds[i]),
    [
      'the device: busy for 90 % of 4.00 s, decoding for 100 %',
      'listing: nodes had no shard for 83 % of 4.00 s',
      'waiting: nodes had no shard for 83 % of 4.00 s',
      'the device: it had work for 3.40 s of 4.00 s and was busy for 53 %',
      'reading: everything else waited for it, 2.10 s of 4.00 s; the device was busy for 5 %',
      'the network: everything else waited for it, 3.90 s of 4.00 s; the device was busy for 0 %',
      "the node's own work: it had shards, but read, decoded, computed and stored none of them for 3.00 s of 4.00 s",
      'the coordinator: nodes had no shard for 83 % of 4.00 s, while shards waited for one',
      "the host 'a:8080': it was unavailable for 2.50 s of 5.00 s",
      "the bucket 'b': it was unavailable for 3.00 s of 5.00 s",
      'other jobs: nodes were at them for 83 % of 4.00 s',
      'the device: it had work for 2.00 s of 4.00 s and was busy for 48 %; other jobs had shards at nodes while its own waited, for 90 % of 4.00 s',
      'the start: it took 4.00 s of 5.00 s',
      'writing the results: it took 3.50 s of 5.00 s',
    ],
  );
});

test('parts that were not seen are left out', () => {
  const busySeconds = { decode: 1, shard: 1 };
  assert.equal(whereTimeWent(job({ busySeconds, leasedMs: 0 })), undefined);
  assert.equal(whereTimeWent(job({ busySeconds }, { state: JobState.RUNNING })), undefined);
  assert.equal(whereTimeWent(job({ busySeconds }, { times: undefined })), undefined);
  const older = whereTimeWent(job({}));
  assert.deepEqual([older?.computing, older?.bound], [4, undefined]);
  assert.equal(describeTimeSpent(older).length, 1);
});

test('a running job is described up to now', () => {
  const running = job(
    { computedMs: 0, busySeconds: { decode: 1.9, device: 0.1, shard: 2 }, stageSeconds: { decode: 8 } },
    { state: JobState.RUNNING, finishedMs: 0 },
  );
  const { starting, computing, writing, bound } = whereTimeWent(running, 3_500)!;
  assert.deepEqual([starting, computing, writing, bound], [0.5, 2, 0, 'decode']);
});

test('a job that took no time has a bottleneck', () => {
  const none = { read: 0, decode: 0, device: 0, encode: 0, shard: 1 };
  const spent = { starting: 0, computing: 0, writing: 0, busy: none };
  assert.equal(boundOf(spent, JobTimes.create()), 'read');
});
