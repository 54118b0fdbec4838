import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counts, JobState } from '@halogrid/proto';
import { describeNotices, describeSummary, exitCodeOfJob } from './describe-summary.ts';
import type { JobSummary } from './job-summary.ts';

const summary: JobSummary = {
  id: 'j1',
  state: 'complete',
  digest: 'abc',
  counts: { sources: 29, frames: 29, shards: 12, attempts: 12, pixels: 22_000_000, quarantined: 0 },
  wallSeconds: 2,
  nodes: [
    { name: 'node-1', device: 'cpu', shards: 7 },
    { name: 'node-2', device: 'cpu', shards: 5 },
  ],
  out: '/home/me/halogrid-out/j1',
  pictures: ['histogram.svg', 'preview'],
};

test('a person reads what was done, by whom, and where the results are', () => {
  assert.equal(
    describeSummary(summary, '/home/me'),
    [
      'Job j1 is complete after 2.00 s.',
      '  sources  29 found, 29 in the results',
      '  pixels   22.0 Mpx at 11.0 Mpx/s',
      '  shards   12 in 12 attempts',
      '  nodes    node-1: cpu, 7 shards',
      '           node-2: cpu, 5 shards',
      '  digest   abc',
      '  results  halogrid-out/j1/ (open histogram.svg and preview)',
      '',
    ].join('\n'),
  );
});

test('named pipelines are shown with the digest of each', () => {
  const pipelines = ['plain', 'edges'].map((name) => ({ name, convention: 'nw-cw-msb', digest: `of ${name}` }));
  const lines = describeSummary({ ...summary, pipelines }, '/home/me').split('\n');
  assert.deepEqual(lines.slice(6, 9), [
    '  digest     abc',
    '  pipelines  plain: of plain',
    '             edges: of edges',
  ]);
  assert.match(lines[9]!, /^ {2}results {4}halogrid-out\/j1\/ \(open pipelines\)$/);
});

test('a person reads where the time went, and what bound it', () => {
  const busy = { read: 0.01, decode: 0.97, device: 0.06, encode: 0, shard: 1 };
  const time = { starting: 0.3, computing: 1.6, writing: 0.1, busy, bound: 'decode' as const };
  const lines = describeSummary({ ...summary, time }, '/home/me').split('\n');
  assert.deepEqual(lines.slice(3, 5), [
    '  time      0.30 s to the first shard, 1.60 s computing, 0.10 s writing',
    '  bound by  decoding: running for 1.55 s of 1.60 s; the device was busy for 6 %',
  ]);
});

test('a run that keeps nothing of the last one says why', () => {
  assert.deepEqual(describeNotices({ ...summary, resultsVersion: 3, earlierResultsVersion: 1 }), [
    'The earlier output was made by results version 1; this is 3: everything is computed again.',
  ]);
  assert.deepEqual(describeNotices(summary), []);
});

test('quarantined inputs are pointed out, and results elsewhere have their whole path', () => {
  const text = describeSummary({ ...summary, counts: { ...summary.counts, quarantined: 2 } }, '/elsewhere');
  assert.match(text, /^ {2}quarantined {2}2: \/home\/me\/halogrid-out\/j1\/errors.jsonl says why$/m);
  assert.match(text, /^ {2}results {6}\/home\/me\/halogrid-out\/j1\/ /m);
});

test('each reason for quarantine is shown with the path of one input', () => {
  const counts = { ...summary.counts, frames: 19, quarantined: 10 };
  const quarantine = [
    { stage: 'decode', error: 'The file is empty (0 bytes)', inputs: 9, example: 'file:///in/a%20b.png' },
    { stage: '', error: 'Other reasons', inputs: 1, example: 's3://bucket/key' },
  ];
  const lines = describeSummary({ ...summary, counts, quarantine }, '/home/me').split('\n');
  assert.deepEqual(lines.slice(2, 5), [
    '  quarantined  10: halogrid-out/j1/errors.jsonl says why',
    '               9 × decode: The file is empty (0 bytes), e.g. /in/a b.png',
    '               1 × Other reasons: s3://bucket/key',
  ]);
});

test('remarks about inputs are shown by what was left out, with one example each', () => {
  const mended = [
    { mended: 'Bytes were left out', inputs: 9, example: 'file:///in/a%20b.jpg' },
    { mended: 'Others were', inputs: 1, example: 's3://bucket/key' },
  ];
  const lines = describeSummary({ ...summary, mended }, '/home/me').split('\n');
  assert.deepEqual(lines.slice(2, 4), [
    '  remarks  9 × Bytes were left out, e.g. /in/a b.jpg',
    '           1 × Others were: s3://bucket/key',
  ]);
});

test('a job that merged nothing says so first', () => {
  const nothingMerged = 'the results are empty: all 12 inputs are quarantined';
  const [headline] = describeSummary({ ...summary, nothingMerged }, '/home/me').split('\n');
  assert.equal(
    headline,
    'Job j1 is complete, but the results are empty: all 12 inputs are quarantined (after 2.00 s).',
  );
});

const codes = [
  [JobState.COMPLETE, 0, 0],
  [JobState.COMPLETE, 2, 3],
  [JobState.FAILED, 0, 1],
  [JobState.FAILED, 2, 1],
  [JobState.CANCELLED, 0, 1],
] as const;

for (const [state, quarantined, code] of codes) {
  test(`${state} with ${quarantined} quarantined exits ${code}`, () => {
    assert.equal(exitCodeOfJob({ state, counts: Counts.fromPartial({ quarantined }) }), code);
  });
}
