import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { type Adopted, FolderLogs, Journal, type LogHome, LogLedger } from '@halogrid/ledger';
import { memoryParts } from '@halogrid/ledger/testing-memory-parts';
import { SharedMemoryRegistry, SharesMemory } from '@halogrid/ledger/testing-shared-memory-registry';
import { JobSpec } from '@halogrid/proto';
import { createLog } from '@halogrid/service/log';
import { turns } from '@halogrid/testing';
import { SharedJobs } from './shared-jobs.ts';

const folder = await mkdtemp(join(tmpdir(), 'halogrid-shared-'));
after(() => rm(folder, { recursive: true }));
const log = createLog('test', 'silent');
const spec = JobSpec.fromPartial({
  sources: ['file:///in'],
  out: 'file:///out',
  pipeline: { operations: [{ kernel: 'lbp' }] },
});

/** A registry, and coordinators whose clock the test moves. */
function setStage(t: TestContext) {
  let nowMs = 0;
  const memory = new SharesMemory();
  const logs = mkdtempSync(join(folder, 'logs-'));
  const tasks: { atMs: number; task: () => void }[] = [];
  const after = (ms: number, task: () => void) => {
    const entry = { atMs: nowMs + ms, task };
    tasks.push(entry);
    return () => void tasks.splice(tasks.indexOf(entry), 1);
  };
  /** Lets time pass, in steps that are much shorter than every wait. */
  const pass = async (ms: number): Promise<void> => {
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs += 50;
      for (const due of tasks.filter(({ atMs }) => atMs <= nowMs)) {
        tasks.splice(tasks.indexOf(due), 1);
        due.task();
      }
      await turns(3);
    }
  };
  const join_ = async (name: string) => {
    const registry = new SharedMemoryRegistry(memory, () => nowMs);
    const epoch = await registry.acquire(name, 5000);
    const home: LogHome = {
      journal: new Journal({ registry, epoch, log, nowMs: () => nowMs }),
      registry,
      partsOf: memoryParts,
      logsOf: (jobId) => new FolderLogs(logs, jobId),
    };
    const shared = new SharedJobs({
      registry,
      shares: registry.shares,
      epoch,
      log,
      nowMs: () => nowMs,
      lost: assert.fail,
      after,
    });
    const ledger = new LogLedger({ epoch, homeOf: async () => home, others: shared });
    const [taken, cancelled, now]: [Adopted[], string[], Map<string, string>] = [[], [], new Map()];
    const held = { takeUp: Promise.resolve() };
    const takeUp = async (job: Adopted): Promise<void> => {
      taken.push(job);
      await held.takeUp;
      await ledger.adopt(home, job.jobId, job.epoch);
    };
    const led = {
      has: (id: string) => ledger.has(id),
      takeUp,
      cancel: (id: string) => cancelled.push(id),
      now: () => now,
    };
    await shared.start(led);
    t.after(() => shared.close());
    return { registry, epoch, shared, ledger, taken, cancelled, now, held };
  };
  return { join: join_, pass };
}

test('a job of another coordinator is known as in its ledger, together with what its leader says about it', async (t) => {
  const { join, pass } = setStage(t);
  const [a, b] = [await join('a'), await join('b')];
  await a.ledger.createJob({ jobId: 'x', spec, submittedMs: 1 });
  await b.ledger.createJob({ jobId: 'y', spec, submittedMs: 2 });
  a.now.set('x', 'it waits');
  await pass(2000);
  assert.deepEqual(
    (await b.ledger.listJobs()).map(({ jobId }) => jobId),
    ['y', 'x'],
  );
  assert.deepEqual(
    b.ledger.ledJobs().map(({ jobId }) => jobId),
    ['y'],
  );
  assert.equal((await b.ledger.getJob('x'))?.state, 'pending');
  assert.equal(b.shared.now('x'), 'it waits');
  await a.ledger.setState('x', 'running', { nowMs: 3 });
  await pass(300);
  assert.equal((await b.ledger.getJob('x'))?.state, 'running');
  await a.ledger.setState('x', 'failed', { nowMs: 4, error: 'The disk is full' });
  await pass(300);
  for (const { ledger } of [a, b]) assert.equal((await ledger.getJob('x'))?.error, 'The disk is full');
  assert.deepEqual([a.ledger.has('x'), b.taken], [false, []]);
  assert.equal(await b.ledger.getJob('z'), undefined);
});

test('a job is cancelled by its leader, whichever coordinator gets the request', async (t) => {
  const { join, pass } = setStage(t);
  const [a, b] = [await join('a'), await join('b')];
  await a.ledger.createJob({ jobId: 'x', spec, submittedMs: 1 });
  let hasEnded = false;
  const cancelled = b.shared.cancel('x').then(() => {
    hasEnded = true;
  });
  await pass(1500);
  assert.ok(a.cancelled.includes('x'));
  assert.equal(hasEnded, false);
  await a.ledger.setState('x', 'cancelled', { nowMs: 2 });
  await pass(1000);
  await cancelled;
  assert.equal((await b.ledger.getJob('x'))?.state, 'cancelled');
});

test('a job of a coordinator that is gone is taken over with a higher epoch, which its leases carry', async (t) => {
  const { join, pass } = setStage(t);
  const [a, b] = [await join('a'), await join('b')];
  await a.ledger.createJob({ jobId: 'x', spec, submittedMs: 1 });
  await a.shared.close();
  for (let second = 0; second < 7; second++) {
    await b.registry.renew(b.epoch, 5000);
    await pass(1000);
  }
  assert.deepEqual(
    b.taken.map(({ jobId }) => jobId),
    ['x'],
  );
  assert.ok(b.ledger.epochOf('x') > b.epoch);
  await assert.rejects(a.ledger.setState('x', 'running', { nowMs: 3 }), { name: 'FencedError' });
  await b.ledger.setState('x', 'running', { nowMs: 3 });
});

test('a job is known exactly once at every moment while it is taken over', async (t) => {
  const { join, pass } = setStage(t);
  const [a, b] = [await join('a'), await join('b')];
  await a.ledger.createJob({ jobId: 'x', spec, submittedMs: 1 });
  await pass(2000);
  const taking = Promise.withResolvers<void>();
  b.held.takeUp = taking.promise;
  await a.shared.close();
  const assertKnown = async (): Promise<void> => {
    const found = Promise.all([b.ledger.getJob('x'), b.ledger.listJobs()]);
    await pass(1500);
    const [job, jobs] = await found;
    assert.equal(job?.jobId, 'x');
    assert.deepEqual(
      jobs.map(({ jobId }) => jobId),
      ['x'],
    );
  };
  try {
    for (let second = 0; second < 12; second++) {
      await b.registry.renew(b.epoch, 5000);
      await assertKnown();
    }
  } finally {
    taking.resolve();
  }
  assert.equal(b.taken.length, 1);
  assert.equal(b.ledger.has('x'), false);
  await assertKnown();
  assert.ok(b.ledger.has('x'));
});

test('while the registry is unreachable, an unknown job is not reported as missing', async (t) => {
  const { join, pass } = setStage(t);
  const a = await join('a');
  const away = Promise.withResolvers<never>();
  a.registry.shares.look = () => away.promise;
  await pass(1000);
  const asked = assert.rejects(a.ledger.getJob('x'), {
    kind: 'unavailable',
    message: /^It is unknown for now whether job 'x' exists/,
  });
  await pass(3000);
  await asked;
  away.reject(new Error('No route'));
});

test('an unreachable registry is asked again, and no member takes over jobs of members that wait for it too', async (t) => {
  const { join, pass } = setStage(t);
  const [a, b] = [await join('a'), await join('b')];
  await a.ledger.createJob({ jobId: 'x', spec, submittedMs: 1 });
  await pass(2000);
  const { look } = b.registry.shares;
  b.registry.shares.look = () => Promise.reject(new Error('No route'));
  await pass(30_000);
  assert.equal((await b.ledger.getJob('x'))?.state, 'pending');
  b.registry.shares.look = look;
  await b.registry.renew(b.epoch, 5000);
  await pass(3000);
  assert.deepEqual(b.taken, []);
  await a.registry.renew(a.epoch, 5000);
  await b.registry.renew(b.epoch, 5000);
  await pass(4000);
  assert.deepEqual(b.taken, []);
});

test('after the registry was unreachable for less than a lease, a member that comes back later keeps its jobs', async (t) => {
  const { join, pass } = setStage(t);
  const [a, b] = [await join('a'), await join('b')];
  await a.ledger.createJob({ jobId: 'x', spec, submittedMs: 1 });
  const goOn = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await b.registry.renew(b.epoch, 5000);
      await pass(1000);
    }
  };
  await goOn(2);
  await a.registry.renew(a.epoch, 5000);
  const { look } = b.registry.shares;
  b.registry.shares.look = () => Promise.reject(new Error('The database system is starting up'));
  await pass(3000);
  b.registry.shares.look = look;
  // The lease of a was over, and the lease of b never was.
  await goOn(12);
  assert.deepEqual(b.taken, []);
  assert.equal(await a.registry.renew(a.epoch, 5000), true);
  await goOn(4);
  assert.deepEqual(b.taken, []);
  await goOn(3);
  assert.deepEqual(
    b.taken.map(({ jobId }) => jobId),
    ['x'],
  );
});
