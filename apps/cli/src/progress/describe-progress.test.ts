import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Counts, JobState, JobStatus } from '@halogrid/proto';
import fc from 'fast-check';
import { progressBar, progressLine } from './describe-progress.ts';

const speed = { pixelsPerSecond: 1.25e9, shardsPerSecond: 2 };
const job = (counts: Partial<Counts>, more: Partial<JobStatus> = {}): JobStatus =>
  JobStatus.fromPartial({ state: JobState.RUNNING, planned: true, nodes: 2, counts, ...speed, ...more });
const still = { pixelsPerSecond: undefined, shardsPerSecond: undefined };

test('a line of a running job says how far it is, how fast, and how long it takes', () => {
  assert.equal(
    progressLine(job({ shards: 50, shardsDone: 31, quarantined: 1 })),
    'running: 31 of 50 shards, 1.25 Gpx/s, about 10 s left, 2 nodes, 1 quarantined',
  );
});

test('while a job is listed, no end is shown', () => {
  assert.equal(
    progressLine(job({ shards: 50, shardsDone: 31 }, { planned: false })),
    'running: listing…: 31 of at least 50 shards, 1.25 Gpx/s, 2 nodes, 0 quarantined',
  );
});

test('a job without nodes says what it waits for', () => {
  assert.equal(
    progressLine(job({ shards: 3 }, { nodes: 0, ...still })),
    'running: 0 of 3 shards, waiting for a node, 0 quarantined',
  );
});

test('a job that no attached node can do says what it waits for, and on a terminal that it waits', () => {
  const waiting = 'No attached node can read /data/archive';
  const waits = job({ shards: 3, quarantined: 2 }, { nodes: 0, waiting, ...still });
  assert.equal(
    progressLine(waits),
    'running: 0 of 3 shards, 0 nodes, 2 quarantined, waiting: No attached node can read /data/archive',
  );
  assert.equal(progressBar(waits, 40), '  0 %  0 of 3 shards · waiting');
});

test('a paused job says so, and not what else it would wait for', () => {
  const paused = job({ shards: 3, shardsDone: 1 }, { waiting: 'No attached node', paused: { sinceMs: 0, by: 'ada' } });
  assert.equal(progressLine(paused), 'paused: 1 of 3 shards');
  assert.equal(progressBar(paused, 36), ' 33 %  1 of 3 shards · paused');
});

test('a job that stands still after some work has a speed of 0', () => {
  assert.match(progressLine(job({ shards: 3, shardsDone: 1 }, still)), /^running: 1 of 3 shards, 0 px\/s, 2 nodes,/);
});

test('a job that writes its results says so', () => {
  const finalising = job({ shards: 3, shardsDone: 3 }, { state: JobState.FINALISING });
  assert.equal(progressLine(finalising), 'finalising: 3 of 3 shards, writing the results');
});

test('the bar shows the finished share of the job, or of the shards listed so far', () => {
  const bar = (shardsDone: number, planned = true): string =>
    progressBar(job({ shards: 4, shardsDone }, { planned }), 200);
  assert.match(bar(0), /^░{24} {3}0 % {2}0 of 4 shards · /);
  assert.match(bar(2), /^█{12}░{12} {2}50 % {2}2 of 4 shards · /);
  assert.match(bar(4), /^█{24} 100 % {2}4 of 4 shards · /);
  assert.match(bar(2, false), /^█{12}░{12} {2}50 % {2}listing…: 2 of at least 4 shards · /);
});

test('a narrow line leaves out whole parts, the least important first', () => {
  const line = (columns: number) => progressBar(job({ shards: 50, shardsDone: 31, quarantined: 1 }), columns);
  const table: [columns: number, line: string][] = [
    [
      120,
      `${'█'.repeat(14)}${'░'.repeat(10)}  62 %  31 of 50 shards · 1.25 Gpx/s · about 10 s left · 2 nodes · 1 quarantined`,
    ],
    [79, '██████░░░░  62 %  31 of 50 shards · about 10 s left · 1 quarantined'],
    [90, '██████░░░░  62 %  31 of 50 shards · 1.25 Gpx/s · about 10 s left · 2 nodes · 1 quarantined'],
    [60, ' 62 %  31 of 50 shards · about 10 s left · 1 quarantined'],
    [40, ' 62 %  31 of 50 shards · about 10 s left'],
    [25, ' 62 %  31 of 50 shards'],
    [5, ' 62 %'],
    [4, ''],
  ];
  for (const [columns, expected] of table) assert.equal(line(columns), expected);
});

test('any line fits, and is made of whole parts', () => {
  const count = fc.oneof(fc.nat(20), fc.nat(2 ** 31));
  const any = fc.record({
    state: fc.constantFrom(JobState.PENDING, JobState.RUNNING, JobState.FINALISING),
    planned: fc.boolean(),
    nodes: count,
    waiting: fc.oneof(fc.constant(''), fc.string({ unit: 'grapheme' })),
    pixelsPerSecond: fc.option(fc.double({ min: 0, max: 1e15, noNaN: true }), { nil: undefined }),
    shardsPerSecond: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined }),
    counts: fc.record({ shards: count, shardsDone: count, quarantined: count }),
  });
  const pieces = (line: string): string[] => line.trimStart().split(/(?: · | {2})/);
  fc.assert(
    fc.property(any, fc.integer({ min: 0, max: 200 }), (fields, columns) => {
      const { counts, ...more } = fields;
      const shardsDone = Math.min(counts.shards, counts.shardsDone);
      const status = job({ ...counts, shardsDone }, more);
      const line = progressBar(status, columns);
      assert.ok(line.length <= columns, line);
      // Every character is one column wide.
      assert.match(line, /^[\x20-\x7e█░·…]*$/);
      const whole = progressBar(status, 1000);
      if (columns >= 40) assert.match(line, /\d %/);
      if (line === '') return;
      const known = new Set(pieces(whole.replace(/^[█░]+ /, '')));
      for (const piece of pieces(line.replace(/^[█░]+ /, ''))) assert.ok(known.has(piece), `'${piece}' of '${whole}'`);
    }),
  );
});
