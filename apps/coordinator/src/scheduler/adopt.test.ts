import {
  back,
  committed,
  completed,
  type Event,
  failed,
  job,
  joined,
  lease,
  left,
  shard,
  shards,
  testCases,
  verified,
} from './testing/scheduler-cases.ts';

// A coordinator goes on with jobs, and nodes bring along the leases that they held.

/** A job of two shards that another coordinator began; its second shard was leased twice. */
const resumed: Event = {
  kind: 'JobResumed',
  jobId: 'job',
  planned: 9,
  kept: 0,
  open: [
    { shard: shard(3), attempts: 0 },
    { shard: shard(5), attempts: 2 },
  ],
};

testCases([
  {
    name: 'when a job goes on, shards that were leased before wait for their nodes',
    given: [joined(1)],
    when: resumed,
    expected: ['lease job/3#1 to 1 (first)'],
  },
  {
    name: 'leases that a node brings along for a job that goes on are adopted under the new epoch, with their attempts',
    given: [resumed],
    when: back(1, [lease(5, 2, 'job', 6)]),
    expected: ['adopt job/5#2 of 1', 'lease job/3#1 to 1 (first)'],
  },
  {
    name: 'a lease whose answer was withdrawn by an earlier coordinator is not adopted, but a later one is',
    given: [{ ...resumed, open: [3, 5].map((n) => ({ shard: shard(n), attempts: 2, withdrawn: n === 3 ? 2 : 1 })) }],
    when: back(1, [lease(3, 2, 'job', 6), lease(5, 2, 'job', 6)]),
    expected: ['adopt job/5#2 of 1', 'lease job/3#3 to 1 (lost)'],
  },
  {
    name: 'a lease that is missing in the ledger is adopted, too',
    given: [resumed],
    when: back(1, [lease(3, 1, 'job', 6)]),
    expected: ['adopt job/3#1 of 1'],
  },
  {
    name: 'leases that an attached node brings for a job that moved here are adopted, in addition to its leases from here',
    given: [joined(1, 1), { ...resumed, bringMs: 2000 }],
    when: {
      kind: 'NodeBrought',
      session: 1,
      brought: [{ ...lease(5, 2, 'job', 6), verify: false, inPart: false }],
      creditBytes: 2,
    },
    expected: ['adopt job/5#2 of 1'],
  },
  ...[true, false].map((inPart) => ({
    name: `what it brings ${inPart ? 'in parts needs no' : 'to compute needs'} credit`,
    given: [joined(1, 1), { ...resumed, bringMs: 2000 }],
    when: {
      kind: 'NodeBrought' as const,
      session: 1,
      brought: [{ ...lease(5, 2, 'job', 6), verify: false, inPart }],
      creditBytes: 1,
    },
    expected: inPart ? ['adopt job/5#2 of 1'] : [],
  })),
  {
    name: 'a shard that a node brings beyond its credit is not waited for any longer',
    given: [resumed, { ...back(1, [lease(3, 1, 'job', 6), lease(5, 2, 'job', 6)]), creditBytes: 1 } as Event],
    when: joined(2),
    expected: ['lease job/5#3 to 2 (lost)'],
  },
  {
    name: 'the answer to an adopted lease is committed under the new epoch',
    given: [resumed, back(1, [lease(5, 2, 'job', 6)])],
    when: completed(1, lease(5, 2)),
    expected: ['commit job/5#2 of 1'],
  },
  {
    name: 'an answer under the old epoch is not committed',
    given: [resumed, back(1, [lease(5, 2, 'job', 6)])],
    when: completed(1, lease(5, 2, 'job', 6)),
    expected: ['stale job/5#2 of node-1'],
  },
  {
    name: 'a node that dials again before its break was noticed keeps its leases',
    given: [...job('job', shards(1)), joined(1)],
    when: back(2, [lease(0)]),
    expected: ['lost job/0#1 of node-1', 'drop 1', 'adopt job/0#1 of 2'],
  },
  {
    name: 'a shard that another node got meanwhile goes on at both',
    given: [...job('job', shards(1)), joined(1), joined(2), left(1)],
    when: back(3, [lease(0)]),
    expected: ['adopt job/0#1 of 3'],
  },
  {
    name: 'if two nodes hold a shard, the first answer counts',
    given: [...job('job', shards(1)), joined(1), joined(2), left(1), back(3, [lease(0)])],
    when: completed(3, lease(0)),
    expected: ['recall job/0 from 2', 'commit job/0#1 of 3'],
  },
  {
    name: 'the lease of a done shard is not adopted',
    given: [...job('job', shards(2)), joined(1), joined(2), left(1), completed(2, lease(0, 2)), committed(0)],
    when: back(3, [lease(0)]),
    expected: [],
  },
  {
    name: 'the lease of a shard that is being written is not adopted',
    given: [...job('job', shards(1)), joined(1), joined(2), left(1), completed(2, lease(0, 2))],
    when: back(3, [lease(0)]),
    expected: [],
  },
  {
    name: 'the lease of a device is not adopted in place of a lease of the reference',
    given: [...verified(1), joined(1), joined(2), left(1), completed(2, lease(0, 2))],
    when: back(3, [lease(0)]),
    expected: [],
  },
  {
    name: 'a verification that was under way goes on',
    given: [...verified(1), joined(2), completed(2, lease(0)), joined(1), left(2), left(1)],
    when: back(3, [lease(0, 2)], 'node-2', true),
    expected: ['adopt job/0#2 of 3, by the reference'],
  },
  {
    name: 'a verification whose answer came is not taken again, or it would outvote the first answer',
    given: [...verified(1), joined(1), joined(2), completed(1, lease(0)), completed(2, lease(0, 2), 'other'), left(2)],
    when: back(3, [lease(0, 2)], 'node-2', true),
    expected: [],
  },
  {
    name: 'a lease that failed is not taken again',
    given: [...job('job', shards(1)), joined(1), failed(1, lease(0)), joined(2), left(1)],
    when: back(3, [lease(0)]),
    expected: [],
  },
  {
    name: 'a lease goes on though another of the same shard failed meanwhile',
    given: [...job('job', shards(1)), joined(1), left(1), joined(2), failed(2, lease(0, 2))],
    when: back(3, [lease(0)]),
    expected: ['adopt job/0#1 of 3'],
  },
  {
    name: 'leases of a later epoch, an unknown job or an unknown shard are not adopted',
    given: [joined(2), ...job('job', shards(1, 1))],
    when: back(1, [lease(0, 1, 'job', 8), lease(0, 1, 'other'), lease(9)]),
    expected: [],
  },
  {
    name: 'a lease that is named twice is adopted once',
    given: [resumed],
    when: back(1, [lease(5, 2, 'job', 6), lease(5, 2, 'job', 6)]),
    expected: ['adopt job/5#2 of 1', 'lease job/3#1 to 1 (first)'],
  },
  {
    name: 'an adopted lease that is handed back frees its attempt number only if no other node has the shard',
    given: [...job('job', shards(1)), joined(1), joined(2), left(1), back(3, [lease(0)])],
    when: { kind: 'ShardReturned', session: 3, lease: lease(0) },
    expected: [],
  },
  {
    name: 'a job that goes on with every shard done is finalised when its plan ends',
    given: [joined(1), { kind: 'JobResumed', jobId: 'job', planned: 9, kept: 0, open: [] }],
    when: { kind: 'PlanEnded', jobId: 'job' },
    expected: ['finalise job'],
  },
]);
