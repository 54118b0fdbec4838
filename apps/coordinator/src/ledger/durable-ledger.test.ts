import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import { JobSpec } from '@halogrid/proto';
import { sourceDigest } from '@halogrid/results/source-digest';
import { resultsVersion } from '@halogrid/service';
import { eventually, repeated } from '@halogrid/testing';
import type { PlanStep } from '../job/shard.ts';
import { jobDigest } from '../log/digest.ts';
import { memoryFolder } from '../testing/memory-folder.ts';
import { batchSteps } from '../testing/planned.ts';
import type { DurableLedger } from './durable-ledger.ts';
import { HistogramSpool } from './histogram-spool.ts';
import { jobLine } from './job-line.ts';
import type { ShardCommit } from './ledger.ts';
import { seal, unseal } from './record/sealed.ts';
import type { LedgerStore } from './store/ledger-store.ts';
import { MemoryStore } from './store/memory-store.ts';
import { SqliteStore } from './store/sqlite-store.ts';
import { ledgerConformance } from './testing/ledger-conformance.ts';
import { type CrashStage, ledgerCrashes, storeStage } from './testing/ledger-crashes.ts';
import { planOf } from './testing/ledger-scene.ts';
import { openLedger } from './testing/open-ledger.ts';
import { settledRows } from './testing/settled-rows.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-ledger-'));
after(() => rm(folder, { recursive: true, force: true }));

let spools = 0;
const spoolPath = () => join(folder, `spool-${spools++}`);
ledgerConformance('on MemoryStore', (epoch) => openLedger(spoolPath, new MemoryStore(), { epoch }));
ledgerConformance('on SqliteStore', async (epoch) => {
  const store = await SqliteStore.open(join(folder, `${spools++}.sqlite`));
  const ledger = await openLedger(spoolPath, store, { epoch });
  // A thread for each would pile up over a property's runs.
  const close = ledger.close.bind(ledger);
  ledger.close = async () => {
    await close();
    await store.close();
  };
  return ledger;
});

ledgerCrashes(
  'on MemoryStore',
  crashStage(async () => new MemoryStore()),
  repeated(10, 150),
);
ledgerCrashes(
  'on SqliteStore',
  crashStage(() => SqliteStore.open(join(folder, `${spools++}.sqlite`))),
  repeated(2, 20),
);

function crashStage(openStore: () => Promise<LedgerStore>): () => Promise<CrashStage> {
  return async () => {
    const store = await openStore();
    const spool = spoolPath();
    return storeStage(store, (over) => openLedger(() => spool, over));
  };
}

const spec = JobSpec.fromPartial({
  pipeline: { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] },
  grid: { rows: 16, columns: 16 },
});

/** Plans frames of 16 x 16 pixels, a shard each. */
async function planFrames(ledger: DurableLedger, count: number, of = spec): Promise<void> {
  await ledger.createJob({ jobId: 'job', spec: of, submittedMs: 0 });
  for (const steps of framesOf(count)) await ledger.addPlan('job', steps, false);
  await ledger.addPlan('job', [], true);
}

const framesOf = (count: number): PlanStep[][] =>
  Array.from({ length: count }, (_, index) => batchSteps(index, [{ index, uri: `file:///${index}` }]));

/** A pixel in each of the 256 cells. */
const bins = Array.from({ length: 256 * 256 }, (_, i) => (i % 256 === 0 ? 1 : 0));

function commitOf(source: number): ShardCommit {
  const size = { width: 16, height: 16 };
  const results = [{ source, size, rect: { x: 0, y: 0, ...size }, counted: 256, bins }];
  const node = { name: '', device: '' };
  return {
    jobId: 'job',
    shard: source,
    attempt: 1,
    epoch: 1,
    node,
    results,
    errors: [],
    stageSeconds: {},
    inputBytes: 0,
  };
}

test('histograms that cannot be kept wait for their folder, and are given up with their job', async () => {
  const path = join(folder, 'nowhere', 'spool');
  const failure = { message: new RegExp(`^The histograms could not be kept in '${path}': ENOENT`) };
  const ledger = await openLedger(() => path);
  await ledger.createJob({ jobId: 'job', spec, submittedMs: 0 });
  const planned = ledger.addPlan('job', framesOf(3).flat(), true);
  const commits = [0, 1].map((shard) => ledger.commit(commitOf(shard)));
  for (const waiting of [planned, ...commits]) waiting.catch(() => {});
  await eventually('the output to lack something', () => ledger.outputLack('job'));
  assert.equal(ledger.outputLack('job')!.kind, 'folder');
  await ledger.giveUp('job');
  for (const waiting of [planned, ...commits]) await assert.rejects(waiting, failure);
  await assert.rejects(ledger.commit(commitOf(2)), failure);
  await ledger.setState('job', 'failed', { nowMs: 1, error: 'The disk is gone' });
  assert.equal((await ledger.getJob('job'))?.error, 'The disk is gone');
});

test('a failed job that can go on keeps its results, under any leader, until it is cancelled', async () => {
  const spool = spoolPath();
  const store = new MemoryStore();
  const first = await openLedger(() => spool, store);
  await planFrames(first, 3);
  await first.commit(commitOf(0));
  await first.setState('job', 'failed', { nowMs: 7, error: 'There is no room', canGoOn: true });
  assert.equal(await first.commit(commitOf(1)), 'stale');
  for (const ledger of [first, await openLedger(() => spool, store)]) {
    const { state, error, finishedMs, canGoOn, counts } = (await ledger.getJob('job'))!;
    assert.deepEqual(
      [state, error, finishedMs, canGoOn, counts.shardsDone],
      ['failed', 'There is no room', 7, true, 1],
    );
    assert.equal(ledger.outputLack('job'), undefined);
  }

  const second = await openLedger(() => spool, store);
  assert.equal(await second.goOn('job'), true);
  assert.deepEqual(
    (await second.resume('job')).map(({ shard }) => shard.shard),
    [1, 2],
  );
  assert.equal(await second.goOn('job'), false, 'it goes on already');
  const { state, error, finishedMs, canGoOn } = (await second.getJob('job'))!;
  assert.deepEqual([state, error, finishedMs, canGoOn], ['running', '', 0, undefined]);
  for (const shard of [1, 2])
    assert.equal(await second.commit({ ...commitOf(shard), epoch: second.epoch }), 'committed');
  assert.equal((await second.results('job')).counted, 3n * 256n);

  await second.setState('job', 'failed', { nowMs: 8, error: 'There is no room', canGoOn: true });
  await second.setState('job', 'cancelled', { nowMs: 9 });
  assert.equal(await second.goOn('job'), false);
  const third = await openLedger(() => spool, store);
  assert.deepEqual([(await third.getJob('job'))!.state, await third.goOn('job')], ['cancelled', false]);
  const kinds = new Set<string>();
  for await (const { kind } of store.entries({ jobId: 'job' })) kinds.add(kind);
  assert.deepEqual([...kinds].sort(), ['job', 'spec']);
});

test('a job that fails because its histograms find no room goes on from the last that did', async () => {
  const spool = spoolPath();
  const store = new MemoryStore();
  const ledger = await openLedger(() => spool, store);
  await planFrames(ledger, 3);
  await ledger.commit(commitOf(0));
  const { sync } = HistogramSpool.prototype;
  HistogramSpool.prototype.sync = () => Promise.reject(Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' }));
  try {
    const never = ledger.commit(commitOf(1));
    never.catch(() => {});
    await eventually('the output to lack room', () => ledger.outputLack('job')?.kind === 'room');
    await ledger.setState('job', 'failed', { nowMs: 7, error: 'There is no room', canGoOn: true });
    await assert.rejects(never, /ENOSPC/);
  } finally {
    HistogramSpool.prototype.sync = sync;
  }
  assert.equal(await ledger.goOn('job'), true);
  assert.deepEqual(
    (await ledger.resume('job')).map(({ shard }) => shard.shard),
    [1, 2],
  );
  for (const shard of [1, 2]) assert.equal(await ledger.commit(commitOf(shard)), 'committed');
  assert.equal((await ledger.results('job')).counted, 3n * 256n);
});

test('a job without a histogram keeps none, and its digest is that of sizes and counts', async () => {
  const path = join(folder, 'none');
  const ledger = await openLedger(() => path);
  const variance = { kernel: 'lbp', parameters: { labels: 'var' }, border: 'zero' };
  const without = { ...spec, pipeline: { operations: [variance] }, grid: undefined };
  await planFrames(ledger, 2, without);
  for (const source of [0, 1]) {
    const commit = commitOf(source);
    assert.equal(
      await ledger.commit({ ...commit, results: commit.results.map((r) => ({ ...r, bins: [] })) }),
      'committed',
    );
  }
  const { bins: totals, counted, digest } = await ledger.results('job');
  const settled = await ledger.settled('job', 0, 99);
  assert.deepEqual(
    [settled.next, [...settledRows(settled)].map((row) => row.state === 'done' && [row.name, row.place])],
    [
      2,
      [
        ['0', undefined],
        ['1', undefined],
      ],
    ],
  );
  assert.deepEqual([totals.length, counted], [0, 512n]);
  const source = sourceDigest({ width: 16, height: 16 }, 256, []);
  assert.equal(digest, jobDigest(jobLine(createPipeline([variance]), { rows: 1, columns: 1 }), [source, source]));
  await ledger.setState('job', 'complete', { nowMs: 1 });
  const blocks = framesOf(2).flatMap(([step]) => (step?.kind === 'sources' ? [step.sources.block] : []));
  assert.deepEqual(await readFile(path), Buffer.concat(blocks));
});

test('a store that is not as it was written is refused with a sentence, whatever is missing or has changed', async () => {
  const spool = spoolPath();
  const store = new MemoryStore();
  const before = await openLedger(() => spool, store);
  await planFrames(before, 200);
  await Promise.all(Array.from({ length: 100 }, (_, source) => before.commit(commitOf(source))));
  await before.close();
  const entries = await Array.fromAsync(store.entries());
  const kinds = new Set(entries.map(({ kind }) => kind));
  assert.deepEqual([...kinds].sort(), ['job', 'plan', 'progress', 'spec', 'totals']);
  for (const { jobId, kind, key, value } of entries) {
    const changed = value.slice();
    changed[changed.length >> 1]! ^= 1;
    for (const other of [changed, undefined]) {
      const epoch = (await store.acquire('test', 0))!;
      await store.write(epoch, [{ jobId, kind, key, value: other }]);
      await assert.rejects(
        openLedger(() => spool, store),
        /^DamagedLedgerError: The ledger is damaged: .* of job job /,
      );
      await store.write((await store.acquire('test', 0))!, [{ jobId, kind, key, value }]);
    }
  }
  const whole = await openLedger(() => spool, store);
  assert.equal((await whole.resume('job')).length, 100);
  await whole.close();
  await rm(spool);
  const lost = await openLedger(() => spool, store);
  await assert.rejects(lost.resume('job'), { message: /^The histograms in '.*' are lost: ENOENT/ });
  await lost.close();
});

/** A store whose reads break after one entry, `breaks` times; then they are whole. */
function breakingStore(breaks: number): MemoryStore {
  const store = new MemoryStore();
  const entries = store.entries.bind(store);
  store.entries = async function* (of) {
    for await (const entry of entries(of)) {
      yield entry;
      if (of?.kind === 'plan' && breaks-- > 0) throw new Error('The ledger cannot be used: the connection broke');
    }
  };
  return store;
}

test('a plan is read to its end though connections to the store break', async () => {
  const store = breakingStore(3);
  const ledger = await openLedger(spoolPath, store);
  await planFrames(ledger, 200);
  const steps = await Array.fromAsync(ledger.recordedPlan('job'));
  assert.deepEqual(
    steps.flatMap((step) => (step.kind === 'shard' ? [step.shard.shard] : [])),
    Array.from({ length: 200 }, (_, index) => index),
  );
  await ledger.close();
});

test('a ledger that is about to be closed does not wait for a store that is away', async () => {
  const store = breakingStore(Infinity);
  const ledger = await openLedger(spoolPath, store);
  await planFrames(ledger, 2);
  const read = Array.fromAsync(ledger.recordedPlan('job'));
  ledger.stopRetrying();
  await assert.rejects(read, { message: 'The ledger cannot be used: the connection broke' });
  await ledger.close();
});

test('why inputs were quarantined is known after the end of the job and of the coordinator', async () => {
  const store = new MemoryStore();
  const before = await openLedger(spoolPath, store);
  await planFrames(before, 3);
  const failed = (source: number) => ({ ...commitOf(source), results: [], errors: [{ source, ...why(source) }] });
  const why = (source: number) => ({ stage: 'decode', error: `Ends at byte ${source}` });
  for (const source of [2, 1]) await before.commit(failed(source));
  const reasons = [{ stage: 'decode', error: 'Ends at byte 1', inputs: 2, example: 'file:///1' }];
  assert.deepEqual((await before.getJob('job'))?.reasons, reasons);
  await before.setState('job', 'failed', { nowMs: 1, error: 'Too many' });
  await before.createJob({ jobId: 'other', spec, submittedMs: 1 });
  await before.setState('other', 'cancelled', { nowMs: 2 });
  await before.close();
  const after = await openLedger(spoolPath, store);
  assert.deepEqual((await after.getJob('job'))?.reasons, reasons);
  assert.equal((await after.getJob('other'))?.reasons, undefined);
  await after.close();
});

test('mended inputs are known after coordinators of the job, and after its end', async () => {
  const store = new MemoryStore();
  const path = spoolPath();
  const first = await openLedger(() => path, store);
  await planFrames(first, 3);
  const mendedBy = (mended: string, source: number) => ({
    ...commitOf(source),
    mended: [{ mended, sources: 1, source }],
  });
  await first.commit(mendedBy('Bytes were left out', 2));
  await first.close();
  const second = await openLedger(() => path, store);
  await second.resume('job');
  for (const source of [1, 0])
    await second.commit({ ...mendedBy(source === 0 ? 'Others were' : 'Bytes were left out', source), epoch: 2 });
  const mended = [
    { mended: 'Bytes were left out', inputs: 2, example: 'file:///1' },
    { mended: 'Others were', inputs: 1, example: 'file:///0' },
  ];
  assert.deepEqual((await second.getJob('job'))?.mended, mended);
  // Inputs that count already are not counted again.
  assert.equal(await second.commit({ ...mendedBy('Others were', 0), epoch: 2 }), 'duplicate');
  await second.setState('job', 'complete', { nowMs: 1, digest: '' });
  await second.close();
  const after = await openLedger(spoolPath, store);
  assert.deepEqual((await after.getJob('job'))?.mended, mended);
  await after.close();
});

test('which nodes took part, where the time went and what there is to tell is known after coordinators of the job, and after its end', async () => {
  const store = new MemoryStore();
  const path = spoolPath();
  const first = await openLedger(() => path, store);
  await planFrames(first, 2);
  assert.equal((await first.getJob('job'))?.times, undefined);
  first.noteTime('job', 'leasedMs', 5);
  first.noteTime('job', 'leasedMs', 6);
  first.noteTime('job', 'listedMs', 7);
  first.setNotes('job', ['Two files are left out']);
  const spent = { stageSeconds: { decode: 3 }, busySeconds: { decode: 2, shard: 2.5 } };
  await first.commit({ ...commitOf(0), ...spent });
  await first.close();

  const second = await openLedger(() => path, store);
  const [open] = await second.resume('job');
  second.noteTime('job', 'leasedMs', 8);
  const { epoch } = second;
  await second.commit({ ...commitOf(open!.shard.shard), ...spent, epoch, node: { name: 'another', device: 'cpu' } });
  await second.setState('job', 'finalising', { nowMs: 9 });
  await second.setState('job', 'complete', { nowMs: 10, digest: 'abc' });
  await second.close();

  const third = await openLedger(() => path, store);
  const { nodesUsed, times, notes } = (await third.getJob('job'))!;
  assert.equal(nodesUsed, 2);
  assert.deepEqual(notes, ['Two files are left out']);
  assert.deepEqual(times, {
    leasedMs: 5,
    listedMs: 7,
    computedMs: 9,
    stageSeconds: { decode: 6 },
    busySeconds: { decode: 4, shard: 5 },
  });
  await third.close();
});

test('a job whose results so far are of another version does not go on', async () => {
  const store = new MemoryStore();
  const before = await openLedger(spoolPath, store);
  await planFrames(before, 2);
  await before.close();
  const place = { jobId: 'job', kind: 'job', key: 0 };
  const [entry] = await Array.fromAsync(store.entries({ kind: 'job' }));
  const job = JSON.parse(Buffer.from(unseal(entry!)).toString());
  assert.equal(job.open.resultsVersion, resultsVersion);
  job.open.resultsVersion--;
  await store.write((await store.acquire('test', 0))!, [seal(place, Buffer.from(JSON.stringify(job)))]);
  const ledger = await openLedger(spoolPath, store);
  await assert.rejects(ledger.resume('job'), {
    message: `What is done of job job is of results version ${resultsVersion - 1}, this is ${resultsVersion}: run it again`,
  });
  await ledger.close();
});

test('of jobs that have ended the newest thousand are kept, in the store too', async () => {
  const store = new MemoryStore();
  const ledger = await openLedger(spoolPath, store);
  for (let i = 0; i < 1003; i++) {
    const jobId = `job-${String(i).padStart(4, '0')}`;
    await ledger.createJob({ jobId, spec, submittedMs: i });
    if (i > 0) await ledger.setState(jobId, 'cancelled', { nowMs: i });
  }
  const known = (await ledger.listJobs()).map(({ jobId }) => jobId);
  assert.deepEqual([known.length, known[0], known.at(-2), known.at(-1)], [1001, 'job-1002', 'job-0003', 'job-0000']);
  await ledger.close();
  const again = await openLedger(spoolPath, store);
  assert.deepEqual(
    (await again.listJobs()).map(({ jobId }) => jobId),
    known,
  );
  await again.close();
});

test('a job whose sources are damaged in its file does not go on', async () => {
  const store = new MemoryStore();
  const path = join(folder, `spool-${spools++}`);
  const steps = planOf(
    [1, 2].map((width) => ({ width, height: 1 })),
    4,
    2,
  );
  const before = await openLedger(() => path, store);
  await before.createJob({ jobId: 'job', spec, submittedMs: 1 });
  await before.addPlan('job', steps, true);
  await before.close();
  const file = await readFile(path);
  file[file.length - 1]! ^= 1;
  await writeFile(path, file);
  const after = await openLedger(() => path, store);
  const message = `The sources in '${path}' are lost: A block of sources is damaged: its checksum differs`;
  await assert.rejects(after.resume('job'), { name: 'LostSourcesError', message });
  await assert.rejects(Array.fromAsync(after.recordedPlan('job')), { name: 'LostSourcesError', message });
  await after.close();
});
