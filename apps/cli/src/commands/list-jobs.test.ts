import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counts, JobSpec, JobState, JobStatus } from '@halogrid/proto';
import { jobTable } from './list-jobs.ts';

const submittedMs = Date.UTC(2026, 0, 31, 12);
const spec = JobSpec.fromPartial({ out: 'file:///data/out', pipeline: { operations: [{ kernel: 'lbp' }] } });
const counts = Counts.fromPartial({ shards: 16, shardsDone: 4, pixels: 5.53e6 });
const job = JobStatus.fromPartial({
  jobId: '20260131-120000-0a1b2c',
  state: JobState.FINALISING,
  spec,
  counts,
  planned: true,
  submittedMs,
});

test('in a pipe, times are in ISO 8601', () => {
  assert.equal(
    jobTable([job], submittedMs),
    'JOB                     STATE       SHARDS  PIXELS    QUARANTINED  SUBMITTED                 RESULTS\n' +
      '20260131-120000-0a1b2c  finalising  4/16    5.53 Mpx  0            2026-01-31T12:00:00.000Z  /data/out\n',
  );
});

test('on a terminal, times are relative to now, and every line fits', () => {
  const nowMs = submittedMs + 12 * 60_000;
  assert.match(jobTable([job], nowMs, 100), / 12 min ago {2}\/data\/out\n$/);
  const narrow = jobTable([job], nowMs, 80);
  assert.match(narrow, /SUBMITTED\n.* 12 min ago\n$/);
  assert.ok(narrow.split('\n').every((line) => line.length <= 80));
});
