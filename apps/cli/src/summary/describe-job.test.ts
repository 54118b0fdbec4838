import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobState, JobStatus } from '@halogrid/proto';
import { describeJob, jobFacts } from './describe-job.ts';

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
  spec: { sources: ['file:///in'], out: 'file:///out', pipeline: { operations: [{ kernel: 'lbp' }] } },
  counts,
  reasons,
});

test('a job is told with the reasons why inputs are quarantined', () => {
  assert.equal(
    describeJob(complete),
    [
      'job          j1',
      'state        complete',
      'submitted    2026-01-02T00:00:00.000Z',
      'finished     2026-01-03T00:00:00.000Z',
      'kernels      lbp',
      'sources      12, 2 merged, 10 quarantined',
      'quarantined  9 × decode: The file is empty (0 bytes), e.g. /in/a.png',
      "             1 × read: '/in/b.png' does not exist, e.g. /in/b.png",
      'shards       12 of 12, 12 attempts',
      'pixels       4.00 kpx',
      'nodes        0',
      'results      /out',
      '',
    ].join('\n'),
  );
});

test('a job that merged nothing says so, and one that failed why', () => {
  const nothing = describeJob({ ...complete, counts: { ...counts, frames: 0, quarantined: 12 } });
  assert.match(nothing, /^state +complete, but nothing was merged: all 12 inputs are quarantined$/m);
  assert.match(describeJob({ ...complete, state: JobState.FAILED, error: 'Why' }), /^state +failed: Why$/m);
});

test('a job that waits says for what, until it has ended', () => {
  const waiting = 'No attached node can read /data';
  assert.match(
    describeJob({ ...complete, state: JobState.RUNNING, waiting }),
    /^waits +No attached node can read \/data$/m,
  );
  assert.doesNotMatch(describeJob({ ...complete, waiting }), /waits/);
});

test('programs are told the same', () => {
  const { quarantine, waiting } = jobFacts(complete);
  assert.deepEqual([quarantine, waiting], [reasons, null]);
});
