import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobState, JobStatus, NodeStatus } from '@halogrid/proto';
import { hasText, jobView, nodeView, nowView, olderWords, pixelCounts, totalSpeed } from './cluster-view.js';
import { Rates } from './rates.js';

const counts = { sources: 40, frames: 10, shards: 40, shardsDone: 10, attempts: 11, pixels: 10_000, quarantined: 2 };
const spec = { out: 'file:///data/o%20ut' };
const asked = [{ name: '', operations: ['conv:kernel=gaussian-5,as=u8', 'lbp'] }];
const running: JobStatus = JobStatus.fromPartial({
  jobId: 'a',
  state: JobState.RUNNING,
  mended: [{ mended: 'Bytes were left out', inputs: 3, example: 'file:///in/b.jpg' }],
  submittedMs: 1000,
  planned: true,
  nodes: 1,
  shardsPerSecond: 2,
  counts,
  spec,
  asked,
});
const complete: JobStatus = {
  ...running,
  jobId: 'b',
  state: JobState.COMPLETE,
  finishedMs: 4000,
  counts: { ...counts, shardsDone: 40 },
};

test('a job is found by words of its row and of its sources, in any order and case', () => {
  const job = { ...running, owner: 'Ada', spec: { ...running.spec!, sources: ['file:///in/cam%201'] } };
  for (const text of ['', 'a', 'ada RUNNING', 'gaussian-5', 'o ut', '/in/cam 1', 'lbp ada'])
    assert.ok(hasText(job, text), text);
  for (const text of ['bob', 'ada failed', 'cam2', 'o%20ut']) assert.ok(!hasText(job, text), text);
});

test('the button for older jobs says how many it shows, and of how many', () => {
  assert.deepEqual(
    [1, 50, 1_950].map((leftOut) => olderWords(leftOut, 50)),
    ['Show 1 older job', 'Show 50 older jobs', 'Show 50 of 1,950 older jobs'],
  );
});

test('named pipelines are shown with their kernels', () => {
  const named = [
    { name: 'edges', operations: ['conv:kernel=gaussian-5,as=u8', 'lbp'] },
    { name: 'plain', operations: ['lbp'] },
  ];
  const { work } = jobView({ ...running, asked: named }, 0, new Rates());
  assert.equal(work, 'edges: conv:kernel=gaussian-5,as=u8 → lbp; plain: lbp');
});

test('a job that runs shows what it computes, how far it is and how fast', () => {
  const rates = new Rates();
  rates.take(5000, new Map([['job a', 0]]));
  rates.take(6000, new Map([['job a', 10_000]]));
  const { error: _, ...view } = jobView(running, 66_000, rates);
  assert.deepEqual(view, {
    id: 'a',
    page: 'jobs/a',
    owner: '',
    state: { word: 'running', tone: '' },
    work: 'conv:kernel=gaussian-5,as=u8 → lbp',
    percent: 25,
    progress: '25 %, 10 of 40 shards',
    left: 'about 15 s left',
    speed: '10 kpx/s',
    frames: '10',
    quarantined: '2',
    time: '1 min 5 s',
    out: '/data/o ut',
    waiting: '',
    reasons: [],
    mended: ['3 × Bytes were left out, e.g. /in/b.jpg'],
  });
});

test('a job shows why inputs are quarantined and what it waits for, and nothing once it has ended', () => {
  const reasons = [{ stage: 'decode', error: 'The file is empty', inputs: 2, example: 'file:///in/a.png' }];
  const waiting = 'No attached node can read /in';
  const view = jobView({ ...running, reasons, waiting }, 0, new Rates());
  assert.deepEqual(view.reasons, ['2 × decode: The file is empty, e.g. /in/a.png']);
  assert.deepEqual([view.waiting, view.state], [waiting, { word: 'waiting', tone: 'wait' }]);
  assert.equal(jobView({ ...complete, waiting }, 0, new Rates()).waiting, '');
});

test('a paused job says so, and not what it would wait for', () => {
  const paused = {
    ...running,
    owner: 'ann',
    paused: { sinceMs: 1, by: 'bob' },
    waiting: 'No attached node can read /in',
  };
  const { owner, state, waiting } = jobView(paused, 0, new Rates());
  assert.deepEqual([owner, state, waiting], ['ann', { word: 'paused', tone: 'wait' }, '']);
});

test('a job that merged nothing is marked as bad', () => {
  const nothing = { ...complete, counts: { ...counts, frames: 0, quarantined: 40 } };
  assert.deepEqual(jobView(nothing, 0, new Rates()).state, {
    word: 'complete, but the results are empty: all 40 inputs are quarantined',
    tone: 'bad',
  });
});

test('states are shown in words', () => {
  const state = (change: Partial<JobStatus>) => jobView({ ...running, ...change }, 0, new Rates()).state;
  assert.deepEqual(state({ nodes: 0 }), { word: 'waiting for a node', tone: 'wait' });
  assert.deepEqual(state({ state: JobState.COMPLETE }), { word: 'complete', tone: 'good' });
  assert.deepEqual(state({ state: JobState.FAILED }), { word: 'failed', tone: 'bad' });
});

test('the progress of a job that is still being listed is relative to its known shards, and a job without shards is done', () => {
  const open = jobView({ ...running, planned: false }, 0, new Rates());
  assert.deepEqual([open.percent, open.progress, open.left], [25, '25 %, listing…: 10 of at least 40 shards', '']);
  const empty = jobView({ ...running, counts: { ...counts, shards: 0, shardsDone: 0 } }, 0, new Rates());
  assert.equal(empty.percent, 100);
});

test('an ended job has no bar, and a cancelled or failed one says how far it came', () => {
  for (const state of [JobState.CANCELLED, JobState.FAILED]) {
    const view = jobView({ ...running, planned: false, state, finishedMs: 4000 }, 0, new Rates());
    assert.deepEqual([view.percent, view.progress, view.left], [undefined, 'ended at 25 %, 10 of 40 shards', '']);
  }
  const { percent, progress } = jobView(complete, 0, new Rates());
  assert.deepEqual([percent, progress], [undefined, '100 %, 40 of 40 shards']);
});

test('an ended job shows how long it took, and no speed', () => {
  const rates = new Rates();
  rates.take(0, new Map([['job b', 0]]));
  rates.take(1000, new Map([['job b', 500]]));
  const { time, speed } = jobView(complete, 1e9, rates);
  assert.deepEqual([time, speed], ['3 s', '–']);
});

test('a node shows its device and its speed', () => {
  const node = NodeStatus.fromPartial({
    nodeId: 'n',
    name: 'left',
    device: { kind: 'gpu', name: 'NVIDIA H200' },
    leases: 3,
    pixelsDone: 2e9,
    shardsDone: 1234,
    attachedMs: 1000,
  });
  const rates = new Rates();
  rates.take(0, new Map([['node n', 0]]));
  rates.take(2000, new Map([['node n', 2e9]]));
  assert.deepEqual(nodeView(node, 61_000, rates), {
    name: 'left',
    state: { word: 'busy', tone: 'good' },
    lacks: [],
    device: 'gpu: NVIDIA H200',
    speed: '1 Gpx/s',
    leases: '3',
    shards: '1,234',
    pixels: '2 Gpx',
    attached: '1 min',
  });
  assert.equal(nodeView({ ...node, draining: true }, 0, rates).state.word, 'draining');
});

test('a node shows what it cannot do, and until when it is set aside', () => {
  const node = NodeStatus.fromPartial({
    lacks: [{ need: 'read file:///data', reason: 'EACCES: permission denied', sinceMs: 1 }],
    setAsideUntilMs: new Date(2026, 0, 2, 3, 4, 5).getTime(),
  });
  const { lacks, state } = nodeView(node, 0, new Rates());
  assert.deepEqual(lacks, ['cannot read /data: EACCES: permission denied']);
  assert.deepEqual(state, { word: 'set aside until 03:04:05', tone: 'wait' });
});

test('the figures at the top are for the running jobs', () => {
  const snapshot = { ms: 0, jobs: [running, complete], nodes: [], leftOut: 0 };
  const rates = new Rates();
  rates.take(0, pixelCounts(snapshot));
  rates.take(1000, new Map([...pixelCounts(snapshot)].map(([name, pixels]) => [name, pixels + 3e6])));
  assert.equal(totalSpeed(snapshot, rates), 3e6);
  assert.deepEqual(nowView(snapshot, rates), [
    ['Throughput', '3 Mpx/s'],
    ['Running jobs', '1'],
    ['Shards left', '30'],
    ['Nodes', '0'],
    ['Quarantined inputs', '4'],
  ]);
});
