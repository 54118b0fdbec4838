import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { SourceResult } from '@halogrid/jobs/shard';
import { batchSteps, plannedSources } from '@halogrid/jobs/testing-planned';
import { createPipeline } from '@halogrid/kernels';
import { JobSpec } from '@halogrid/proto';
import { jobDigest } from '@halogrid/results/job-digest';
import { jobLine } from '@halogrid/results/job-line';
import { sourceDigest } from '@halogrid/results/source-digest';
import { resultsVersion } from '@halogrid/service';
import { eventually, memoryFolder } from '@halogrid/testing';
import type { JobRecord, ShardCommit } from './ledger/ledger.ts';
import type { Fact } from './log/fact.ts';
import { packFact, readFact } from './log/fact-codec.ts';
import { LogWriter, readLog } from './log/log-file.ts';
import type { LogLedger } from './log-ledger.ts';
import { MemoryRegistry } from './registry/memory-registry.ts';
import { planOf } from './testing/ledger-scene.ts';
import { foundShard, keepPart, settledDigest, shapesOf } from './testing/memory-parts.ts';
import { openLogLedger } from './testing/open-log-ledger.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-log-jobs-'));
after(() => rm(folder, { recursive: true, force: true }));
const newFolder = (): Promise<string> => mkdtemp(join(folder, 'jobs-'));

const spec = JobSpec.fromPartial({
  pipeline: { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] },
  grid: { rows: 16, columns: 16 },
});

/** Plans frames of 16 x 16 pixels, one per shard. */
async function planFrames(ledger: LogLedger, count: number, of = spec): Promise<void> {
  await ledger.createJob({ jobId: 'job', spec: of, submittedMs: 0 });
  for (let index = 0; index < count; index++) {
    await ledger.addPlan('job', batchSteps(index, [{ index, uri: `file:///${index}` }]), false);
  }
  await ledger.addPlan('job', [], true);
}

/** A pixel in each of the 256 cells. */
const bins = Array.from({ length: 256 * 256 }, (_, i) => (i % 256 === 0 ? 1 : 0));

function commitOf(source: number, of = spec, counts = bins): ShardCommit {
  const size = { width: 16, height: 16 };
  const results = [{ source, size, rect: { x: 0, y: 0, ...size }, counted: 256, bins: counts }];
  return { ...answerOf(source), found: foundOf(source, results, of) };
}

const answerOf = (source: number): ShardCommit => ({
  jobId: 'job',
  shard: source,
  attempt: 1,
  epoch: 1,
  node: { name: '', device: '' },
  results: [],
  errors: [],
  stageSeconds: {},
  inputBytes: 0,
});

function foundOf(source: number, results: SourceResult[], of = spec) {
  const { block } = plannedSources([{ index: source, uri: `file:///${source}` }]);
  return keepPart(shapesOf(of), foundShard(block, results, shapesOf(of)));
}

test('histograms that cannot be stored wait for their folder, and are given up with their job', async () => {
  const own = await newFolder();
  const ledger = await openLogLedger(own, undefined, { makesFolders: false });
  const created = ledger.createJob({ jobId: 'job', spec, submittedMs: 0 });
  created.catch(() => {});
  await eventually('the output to lack something', () => ledger.outputLack('job'));
  assert.equal(ledger.outputLack('job')!.kind, 'folder');
  await ledger.giveUp('job');
  const failure = { message: new RegExp(`^The log '${own}/job/log-\\d+' could not be begun: ENOENT`) };
  await assert.rejects(created, failure);
  await assert.rejects(ledger.addPlan('job', [], true), failure);
  await ledger.setState('job', 'failed', { nowMs: 1, error: 'The disk is gone' });
  assert.equal((await ledger.getJob('job'))?.error, 'The disk is gone');
});

test('a failed job that can go on keeps its results, under any leader, until it is cancelled', async () => {
  const own = await newFolder();
  const registry = new MemoryRegistry();
  const first = await openLogLedger(own, registry);
  await planFrames(first, 3);
  await first.commit(commitOf(0));
  await first.setState('job', 'failed', { nowMs: 7, error: 'There is no room', canGoOn: true });
  assert.equal(await first.commit(commitOf(1)), 'stale');
  for (const ledger of [first, await openLogLedger(own, registry)]) {
    const { state, error, finishedMs, canGoOn, counts } = (await ledger.getJob('job'))!;
    assert.deepEqual(
      [state, error, finishedMs, canGoOn, counts.shardsDone],
      ['failed', 'There is no room', 7, true, 1],
    );
    assert.equal(ledger.outputLack('job'), undefined);
  }

  const second = await openLogLedger(own, registry);
  assert.equal(await second.goOn('job'), true);
  assert.deepEqual(
    (await second.resume('job')).open.map(({ shard }) => shard.shard),
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
  const third = await openLogLedger(own, registry);
  assert.deepEqual([(await third.getJob('job'))!.state, await third.goOn('job')], ['cancelled', false]);
  const [job] = await Array.fromAsync(registry.jobs());
  assert.deepEqual([job!.leader, job!.marks], [undefined, []]);
});

test('a job that fails because its histograms find no room continues from the last one that was stored', async () => {
  const own = await newFolder();
  const registry = new MemoryRegistry();
  const ledger = await openLogLedger(own, registry);
  await planFrames(ledger, 3);
  await ledger.commit(commitOf(0));
  const { append } = LogWriter.prototype;
  LogWriter.prototype.append = () => Promise.reject(Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' }));
  try {
    const never = ledger.commit(commitOf(1));
    never.catch(() => {});
    await eventually('the output to lack room', () => ledger.outputLack('job')?.kind === 'room');
    await ledger.setState('job', 'failed', { nowMs: 7, error: 'There is no room', canGoOn: true });
    await assert.rejects(never, /ENOSPC/);
  } finally {
    LogWriter.prototype.append = append;
  }
  assert.equal(await ledger.goOn('job'), true);
  assert.deepEqual(
    (await ledger.resume('job')).open.map(({ shard }) => shard.shard),
    [1, 2],
  );
  for (const shard of [1, 2]) assert.equal(await ledger.commit(commitOf(shard)), 'committed');
  assert.equal((await ledger.results('job')).counted, 3n * 256n);
  await ledger.close();
});

test('a job without a histogram stores none, and its digest is over sizes and counts', async () => {
  const ledger = await openLogLedger(await newFolder());
  const variance = { kernel: 'lbp', parameters: { labels: 'var' }, border: 'zero' };
  const without = JobSpec.fromPartial({ pipeline: { operations: [variance] } });
  await planFrames(ledger, 2, without);
  for (const source of [0, 1]) {
    assert.equal(await ledger.commit(commitOf(source, without, [])), 'committed');
  }
  const { bins: totals, counted } = await ledger.results('job');
  const settled = await ledger.settled('job', 0, 99);
  assert.equal(settled.next, 2);
  assert.deepEqual([totals.length, counted], [0, 512n]);
  const source = sourceDigest({ width: 16, height: 16 }, 256, []);
  assert.equal(
    settledDigest(without, settled),
    jobDigest(jobLine(createPipeline([variance]), { rows: 1, columns: 1 }), [source, source]),
  );
  await ledger.setState('job', 'complete', { nowMs: 1 });
});

test('a log that is not as it was written is refused with a sentence, for anything that is missing or changed', async () => {
  const own = await newFolder();
  const registry = new MemoryRegistry();
  const before = await openLogLedger(own, registry);
  await planFrames(before, 20);
  await Promise.all(Array.from({ length: 10 }, (_, source) => before.commit(commitOf(source))));
  await before.close();
  const [job] = await Array.fromAsync(registry.jobs());
  const path = join(own, 'job', `log-${job!.marks[0]!.epoch}`);
  const whole = await readFile(path);
  const lost = { message: /^The results so far of job job are lost: The log '.*' (has|is missing)/ };
  for (const at of [0, 30, whole.length >> 1, whole.length - 1]) {
    const changed = Buffer.from(whole);
    changed[at]! ^= 1;
    for (const other of [changed, whole.subarray(0, at)]) {
      await writeFile(path, other);
      const ledger = await openLogLedger(own, registry);
      await assert.rejects(ledger.resume('job'), lost);
      assert.equal((await ledger.getJob('job'))!.counts.shardsDone, 10);
      await ledger.close();
    }
  }
  await writeFile(path, whole);
  const again = await openLogLedger(own, registry);
  assert.equal((await again.resume('job')).open.length, 10);
  await again.close();
  await rm(path);
  const gone = await openLogLedger(own, registry);
  await assert.rejects(gone.resume('job'), lost);
  await gone.setState('job', 'failed', { nowMs: 1, error: 'It is lost' });
  assert.equal((await gone.getJob('job'))!.error, 'It is lost');
  await gone.close();
});

test('the reasons for quarantined inputs are known after the end of the job and of the coordinator', async () => {
  const own = await newFolder();
  const registry = new MemoryRegistry();
  const before = await openLogLedger(own, registry);
  await planFrames(before, 3);
  const failed = (source: number): ShardCommit => {
    return { ...answerOf(source), found: foundOf(source, []), errors: [{ source, ...why(source) }] };
  };
  const why = (source: number) => ({ stage: 'decode', error: `Ends at byte ${source}` });
  for (const source of [2, 1]) await before.commit(failed(source));
  const reasons = [{ stage: 'decode', error: 'Ends at byte 1', inputs: 2, example: 'file:///1' }];
  assert.deepEqual((await before.getJob('job'))?.reasons, reasons);
  await before.setState('job', 'failed', { nowMs: 1, error: 'Too many' });
  await before.createJob({ jobId: 'other', spec, submittedMs: 1 });
  await before.setState('other', 'cancelled', { nowMs: 2 });
  await before.close();
  const after = await openLogLedger(own, registry);
  assert.deepEqual((await after.getJob('job'))?.reasons, reasons);
  assert.equal((await after.getJob('other'))?.reasons, undefined);
  await after.close();
});

test('mended inputs are known after the end of its coordinators, and of the job', async () => {
  const registry = new MemoryRegistry();
  const own = await newFolder();
  const first = await openLogLedger(own, registry);
  await planFrames(first, 3);
  const mendedBy = (mended: string, source: number) => ({
    ...commitOf(source),
    mended: [{ mended, sources: 1, source }],
  });
  await first.commit(mendedBy('Bytes were left out', 2));
  await first.close();
  const second = await openLogLedger(own, registry);
  await second.resume('job');
  for (const source of [1, 0])
    await second.commit({ ...mendedBy(source === 0 ? 'Others were' : 'Bytes were left out', source), epoch: 2 });
  const mended = [
    { mended: 'Bytes were left out', inputs: 2, example: 'file:///1' },
    { mended: 'Others were', inputs: 1, example: 'file:///0' },
  ];
  assert.deepEqual((await second.getJob('job'))?.mended, mended);
  // Inputs that already count are not counted again.
  assert.equal(await second.commit({ ...mendedBy('Others were', 0), epoch: 2 }), 'duplicate');
  await second.setState('job', 'complete', { nowMs: 1, digest: '' });
  await second.close();
  const after = await openLogLedger(own, registry);
  assert.deepEqual((await after.getJob('job'))?.mended, mended);
  await after.close();
});

test('the nodes that took part, where the time went, and notes are known after the end of coordinators, and of the job', async () => {
  const registry = new MemoryRegistry();
  const own = await newFolder();
  const first = await openLogLedger(own, registry);
  await planFrames(first, 2);
  assert.equal((await first.getJob('job'))?.times, undefined);
  first.noteTime('job', 'leasedMs', 5);
  first.noteTime('job', 'leasedMs', 6);
  first.noteTime('job', 'listedMs', 7);
  first.setNotes('job', ['Two files are left out']);
  const spent = { stageSeconds: { decode: 3 }, busySeconds: { decode: 2, shard: 2.5 } };
  await first.commit({ ...commitOf(0), ...spent });
  await first.close();

  const second = await openLogLedger(own, registry);
  const [open] = (await second.resume('job')).open;
  second.noteTime('job', 'leasedMs', 8);
  const { epoch } = second;
  await second.commit({ ...commitOf(open!.shard.shard), ...spent, epoch, node: { name: 'another', device: 'cpu' } });
  await second.setState('job', 'finalising', { nowMs: 9 });
  await second.setState('job', 'complete', { nowMs: 10, digest: 'abc' });
  await second.close();

  const third = await openLogLedger(own, registry);
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

test('a job whose results so far are of another version does not continue', async () => {
  const own = await newFolder();
  const registry = new MemoryRegistry();
  const before = await openLogLedger(own, registry);
  await planFrames(before, 2);
  await before.close();
  const [job] = await Array.fromAsync(registry.jobs());
  const { epoch } = job!.marks[0]!;
  const path = join(own, 'job', `log-${epoch}`);
  const others = await relogged(path, 'job', epoch, (fact) => {
    if (fact.kind === 'checkpoint') Object.assign(fact.state, { resultsVersion: resultsVersion - 1 });
  });
  assert.ok(others > 0);
  const ledger = await openLogLedger(own, registry);
  await assert.rejects(ledger.resume('job'), {
    message: `What is done of job job is of results version ${resultsVersion - 1}, this is ${resultsVersion}: run it again`,
  });
  await ledger.close();
});

/** Writes a log again with changed facts, which must keep their length; returns how many facts were changed. */
async function relogged(path: string, jobId: string, epoch: number, change: (fact: Fact) => void): Promise<number> {
  const groups = await Array.fromAsync(readLog(path, `${jobId} ${epoch}`));
  await rm(path);
  const log = await LogWriter.create(path, `${jobId} ${epoch}`);
  let changed = 0;
  for (const { facts, offset, checkpoint } of groups) {
    const others = facts.map((bytes) => {
      const fact = readFact(bytes);
      const before = JSON.stringify(fact);
      change(fact);
      if (JSON.stringify(fact) !== before) changed++;
      return packFact(fact);
    });
    await log.append(others, checkpoint === offset);
  }
  await log.close();
  return changed;
}

test('the newest thousand ended jobs are kept, in the registry too', async () => {
  const own = await newFolder();
  const registry = new MemoryRegistry();
  const ledger = await openLogLedger(own, registry);
  for (let i = 0; i < 1003; i++) {
    const jobId = `job-${String(i).padStart(4, '0')}`;
    await ledger.createJob({ jobId, spec, submittedMs: i });
    if (i > 0) await ledger.setState(jobId, 'cancelled', { nowMs: i });
  }
  const known = (await ledger.listJobs()).map(({ jobId }) => jobId);
  assert.deepEqual([known.length, known[0], known.at(-2), known.at(-1)], [1001, 'job-1002', 'job-0003', 'job-0000']);
  await ledger.close();
  const again = await openLogLedger(own, registry);
  assert.deepEqual(
    (await again.listJobs()).map(({ jobId }) => jobId),
    known,
  );
  await again.close();
});

test('a job whose sources are damaged in its file does not continue', async () => {
  const own = await newFolder();
  const registry = new MemoryRegistry();
  const sizes = [1, 2].map((width) => ({ width, height: 1 }));
  const before = await openLogLedger(own, registry);
  await before.createJob({ jobId: 'job', spec, submittedMs: 1 });
  await before.addPlan('job', planOf(sizes, 4, 2), true);
  await before.close();
  const [job] = await Array.fromAsync(registry.jobs());
  const path = join(own, 'job', `log-${job!.marks[0]!.epoch}`);
  const file = await readFile(path);
  file[file.length - 1]! ^= 1;
  await writeFile(path, file);
  const after = await openLogLedger(own, registry);
  const message = new RegExp(`^The results so far of job job are lost: The log '${path}' has changed before byte`);
  await assert.rejects(after.resume('job'), { message });
  await assert.rejects(Array.fromAsync(after.recordedPlan('job')), { message });
  await after.close();
});

test('who owns a job, and that it is paused, outlasts its coordinator; the pause ends with the job', async () => {
  const own = await newFolder();
  const registry = new MemoryRegistry();
  const paused = { sinceMs: 7, by: 'bob' };
  const before = await openLogLedger(own, registry);
  await before.createJob({ jobId: 'job', spec, submittedMs: 1, owner: 'ann' });
  await before.setPaused('job', paused);
  await before.close();
  const after = await openLogLedger(own, registry);
  const told = async ({ owner, paused }: Partial<JobRecord> = {}) => ({ owner, paused });
  assert.deepEqual(await told(await after.getJob('job')), { owner: 'ann', paused });
  await after.resume('job');
  assert.deepEqual(await told(await after.getJob('job')), { owner: 'ann', paused });
  await after.setPaused('job', undefined);
  assert.deepEqual(await told(await after.getJob('job')), { owner: 'ann', paused: undefined });
  await after.setPaused('job', paused);
  await after.setState('job', 'cancelled', { nowMs: 9 });
  assert.deepEqual(await told(await after.getJob('job')), { owner: 'ann', paused: undefined });
  await after.close();
});
