import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobState, JobStatus } from '@halogrid/proto';
import { describeEnd, describeJob, jobFacts } from './describe-job.ts';

const counts = { sources: 12, frames: 2, shards: 12, shardsDone: 12, attempts: 12, pixels: 4000, quarantined: 10 };
const reasons = [
  { stage: 'decode', error: 'The file is empty (0 bytes)', inputs: 9, example: 'file:///in/a.png' },
  { stage: 'read', error: "'/in/b.png' does not exist", inputs: 1, example: 'file:///in/b.png' },
];
const complete = JobStatus.fromPartial({
  jobId: 'j1',
  state: JobState.COMPLETE,
  planned: true,
  submittedMs: Date.UTC(2026, 0, 2),
  finishedMs: Date.UTC(2026, 0, 3),
  nodesUsed: 2,
  spec: { sources: ['file:///in'], out: 'file:///out', pipeline: { operations: [{ kernel: 'lbp' }] } },
  counts,
  reasons,
  mended: [{ mended: 'Bytes were left out', inputs: 2, example: 'file:///in/c.jpg' }],
});

test('an ended job says how and when it ended, and why it failed', () => {
  const nowMs = complete.finishedMs + 7_200_000;
  assert.equal(describeEnd(complete, nowMs), 'Job j1 ended before: complete, 2026-01-03T00:00:00.000Z (2 h ago)');
  const failed = { ...complete, state: JobState.FAILED, error: 'The disk is full' };
  assert.match(describeEnd(failed, nowMs), /^Job j1 ended before: failed, \S+ \(2 h ago\): The disk is full$/);
});

test('a job is shown with the reasons why inputs are quarantined', () => {
  assert.equal(
    describeJob(complete, 0),
    [
      'job          j1',
      'state        complete',
      'progress     100 % in 24 h 00 min, 0 px/s',
      'submitted    2026-01-02T00:00:00.000Z',
      'finished     2026-01-03T00:00:00.000Z',
      'kernels      lbp',
      'sources      12 found, 2 in the results, 10 quarantined',
      'quarantined  9 × decode: The file is empty (0 bytes), e.g. /in/a.png',
      "             1 × read: '/in/b.png' does not exist",
      'remarks      2 × Bytes were left out, e.g. /in/c.jpg',
      'shards       12 of 12, 12 attempts',
      'pixels       4.00 kpx',
      'nodes        2 nodes took part',
      'results      /out',
      '',
    ].join('\n'),
  );
});

test('named pipelines are shown with their kernels', () => {
  const operations = [{ kernel: 'conv' }, { kernel: 'lbp' }];
  const named = [
    { name: 'edges', pipeline: { operations } },
    { name: 'plain', pipeline: { operations: [{ kernel: 'lbp' }] } },
  ];
  const several = JobStatus.fromPartial({ ...complete, spec: { out: 'file:///out', pipelines: { named } } });
  assert.match(describeJob(several, 0), /^kernels +edges: conv lbp, plain: lbp$/m);
});

test('a job that merged nothing says so, and one that failed why', () => {
  const nothing = describeJob({ ...complete, counts: { ...counts, frames: 0, quarantined: 12 } }, 0);
  assert.match(nothing, /^state +complete, but the results are empty: all 12 inputs are quarantined$/m);
  assert.match(describeJob({ ...complete, state: JobState.FAILED, error: 'Why' }, 0), /^state +failed: Why$/m);
});

test('a job that waits says for what, until it has ended', () => {
  const waiting = 'No attached node can read /data';
  assert.match(
    describeJob({ ...complete, state: JobState.RUNNING, waiting }, 0),
    /^waits +No attached node can read \/data$/m,
  );
  assert.doesNotMatch(describeJob({ ...complete, waiting }, 0), /waits/);
});

const running = JobStatus.fromPartial({
  ...complete,
  state: JobState.RUNNING,
  finishedMs: 0,
  nodes: 3,
  counts: { ...counts, shards: 50, shardsDone: 31 },
  pixelsPerSecond: 1.25e9,
  shardsPerSecond: 2,
});
const after = (seconds: number): number => running.submittedMs + 1000 * seconds;
const row = (job: JobStatus, name: string, nowMs = after(16)): string | undefined =>
  new RegExp(`^${name} +(.*)$`, 'm').exec(describeJob(job, nowMs))?.[1];

test('a running job says how far it is, how fast, and when it ends', () => {
  assert.equal(row(running, 'progress'), '62 %, 1.25 Gpx/s, about 10 s left, 16.0 s so far');
  assert.equal(row(running, 'nodes'), '3 attached');
  assert.equal(
    row({ ...running, planned: false }, 'progress'),
    '62 %, listing…: 31 of at least 50 shards, 1.25 Gpx/s, time left not known yet, 16.0 s so far',
  );
  const still = { ...running, pixelsPerSecond: undefined, shardsPerSecond: undefined };
  assert.equal(row(still, 'progress'), '62 %, 16.0 s so far');
});

test('a job that ended early says how far it came, and does not say what there is so far', () => {
  for (const state of [JobState.CANCELLED, JobState.FAILED]) {
    const ended = { ...running, state, planned: false, finishedMs: after(8), nodes: 0, nodesUsed: 1 };
    assert.equal(row(ended, 'progress'), 'ended at 62 %, after 8.00 s');
    assert.equal(row(ended, 'nodes'), '1 node took part');
    assert.doesNotMatch(describeJob(ended, 0), /so far|listing/);
  }
});

test('a job of an older version, which did not count nodes, has no row for them', () => {
  assert.equal(row({ ...complete, nodesUsed: undefined }, 'nodes'), undefined);
});

test('JSON has the same facts', () => {
  const { quarantine, mended, waiting, nodes, percent, seconds } = jobFacts(complete, 0);
  assert.deepEqual(mended, complete.mended);
  assert.deepEqual([quarantine, waiting, nodes, percent, seconds], [reasons, null, 2, 100, 86_400]);
  const now = jobFacts({ ...running, planned: false }, after(16));
  assert.deepEqual(
    [now.listing, now.percent, now.seconds, now.pixelsPerSecond, now.secondsLeft, now.nodes],
    [true, 62, 16, 1.25e9, null, 3],
  );
  assert.equal(jobFacts(running, after(16)).secondsLeft, 9.5);
});
