import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { indexesOf } from '@halogrid/jobs/planned-sources';
import type { PlannedStep, PlanStep } from '@halogrid/jobs/shard';
import { batchSteps, plannedSources } from '@halogrid/jobs/testing-planned';
import { createPipeline } from '@halogrid/kernels';
import { type JobRecord, type Ledger, MemoryRegistry } from '@halogrid/ledger';
import { foundShard, keepPart, shapesOf } from '@halogrid/ledger/testing-memory-parts';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import { Cause, Hello, JobSpec, type Probe } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { systemClock } from '@halogrid/service/clock';
import { createLog } from '@halogrid/service/log';
import { createRegistry } from '@halogrid/service/metrics';
import { eventually, turns, within } from '@halogrid/testing';
import { noOutput, noTables } from '../testing/no-tables.ts';
import { Dispatcher } from './dispatcher.ts';
import type { DispatcherOptions } from './dispatcher-options.ts';
import type { JobWork } from './job-work.ts';
import type { LeaseOrder, NodeReport } from './node-session.ts';
import { createMetrics } from './work-metrics.ts';

const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);
const spec = JobSpec.fromPartial({
  sources: ['file:///in'],
  pipeline: { operations: [{ kernel: 'lbp', parameters: {} }] },
  out: 'file:///out',
  mapFormat: 'none',
});
const shapes = shapesOf(spec);
const job = { jobId: 'job', spec, pipeline, scratch: 'file:///out/.scratch' };

const folder = await mkdtemp(join(tmpdir(), 'halogrid-dispatcher-'));
after(() => rm(folder, { recursive: true, force: true }));
let ledgers = 0;

/** The plan of frames of 3 x 3 pixels, each with a shard of its own. */
async function* frames(count: number): AsyncGenerator<PlanStep[]> {
  for (let index = 0; index < count; index++) {
    const uri = `file:///in/${index}.pgm`;
    yield batchSteps(index, [{ index, uri }], 9);
  }
}

interface Stage {
  dispatcher: Dispatcher;
  ledger: Ledger;
  calls: string[];
  /** Resolves with the job when it has ended. */
  ended(): Promise<JobRecord>;
  /** Resolves when the folder of the job is given back, which is the last call of a job. */
  released(): Promise<unknown>;
}

/** A dispatcher whose jobs plan two frames and write nothing; `work` replaces parts of this. */
async function setStage(
  t: TestContext,
  work: Partial<JobWork> = {},
  { registry = new MemoryRegistry(), ...options }: Partial<DispatcherOptions> & { registry?: MemoryRegistry } = {},
): Promise<Stage> {
  const calls: string[] = [];
  const ledger = await openLogLedger(join(folder, String(ledgers++)), registry);
  const dispatcher = new Dispatcher({
    ledger,
    work: {
      plan: () => frames(2),
      tables: () => noTables,
      finalise: async () => {
        calls.push('finalise');
        return noOutput;
      },
      abandon: async (_, { state }) => calls.push(`abandon: ${state}`) < 0,
      release: () => void calls.push('release'),
      ...work,
    },
    clock: systemClock,
    reportWithinMs: 600_000,
    metrics: createMetrics(createRegistry('coordinator')),
    log: createLog('test', 'silent'),
    ...options,
  });
  t.after(async () => {
    await dispatcher.close();
    await ledger.close();
  });
  const ended = async (): Promise<JobRecord> => {
    for (;;) {
      const changed = dispatcher.jobs.changed(job.jobId);
      const record = await ledger.getJob(job.jobId);
      if (record?.finishedMs) return record;
      await within('a change of the job', changed);
    }
  };
  const released = () => eventually('the folder to be released', () => calls.includes('release'));
  return { dispatcher, ledger, calls, ended, released };
}

/** Attaches a node that answers every lease with a right result, in its own time. */
function attachWorker(
  dispatcher: Dispatcher,
  creditBytes = 1000,
  leased: (order: LeaseOrder) => void = () => {},
): void {
  const hello = Hello.fromPartial({ nodeId: 'worker', name: 'worker', creditBytes });
  const answer = ({ lease, shard }: LeaseOrder): void => {
    assert.ok(shard.work.kind === 'frames');
    const size = { width: 3, height: 3 };
    const bins = Array.from({ length: 256 }, (_, bin) => (bin === 0 ? 1 : 0));
    const results = indexesOf(shard.work).map((source) => {
      return { source, size, rect: { x: 0, y: 0, ...size }, counted: 1, bins };
    });
    const found = keepPart(shapes, foundShard(shard.work.sources.block, results, shapes));
    const answer = { results: [], found, errors: [], stageSeconds: {}, inputBytes: 0 };
    dispatcher.nodes.report(session, { kind: 'ShardCompleted', lease, answer });
  };
  const lease = (order: LeaseOrder) => {
    leased(order);
    setImmediate(answer, order);
  };
  const probe = ({ probe }: Probe): void => {
    const sight = { probe, files: [], error: '' };
    setImmediate(() => dispatcher.nodes.report(session, { kind: 'NodeLooked', sight }));
  };
  const connection = {
    welcome() {},
    lease,
    recall() {},
    bring() {},
    kept() {},
    probe,
    search() {},
    creditTaken() {},
    drop() {},
  };
  const session = dispatcher.nodes.attach(hello, connection);
}

test('a note of a plan is logged and kept with the job, and does not count as a step', async (t) => {
  const lines: unknown[][] = [];
  const log = createLog('test', 'silent');
  const noting: Log = Object.assign(Object.create(log), { info: (...line: unknown[]) => void lines.push(line) });
  const noted: PlannedStep[] = [
    { kind: 'note', text: 'Left out something' },
    {
      kind: 'sources',
      sources: plannedSources([
        { index: 0, uri: 'file:///in/0.pgm', error: { stage: 'read', error: 'It is not there' } },
      ]),
    },
  ];
  const plan = async function* (): AsyncGenerator<PlannedStep[]> {
    yield noted;
  };
  const { dispatcher, ended } = await setStage(t, { plan }, { log: noting });
  await dispatcher.jobs.submit(job);
  const { state, counts, notes } = await ended();
  assert.deepEqual([state, counts.sources, counts.quarantined], ['complete', 1, 1]);
  assert.deepEqual(notes, ['Left out something']);
  assert.deepEqual(
    lines.filter(([, text]) => text === 'Left out something'),
    [[{ jobId: 'job' }, 'Left out something']],
  );
});

test('a job is planned, computed, finalised and completed, and its folder is released', async (t) => {
  const { dispatcher, calls, ended, released } = await setStage(t);
  attachWorker(dispatcher);
  await dispatcher.jobs.submit(job);
  const record = await ended();
  assert.equal(record.state, 'complete', record.error);
  assert.deepEqual([record.counts.shardsDone, record.counts.attempts, record.counts.frames], [2, 2, 2]);
  await released();
  assert.deepEqual(calls, ['finalise', 'release']);
});

test('a plan that fails fails the job with its sentence', async (t) => {
  const { dispatcher, calls, ended, released } = await setStage(t, {
    async *plan() {
      yield* frames(1);
      throw new Error('There is no source /in any more');
    },
  });
  await dispatcher.jobs.submit(job);
  const record = await ended();
  assert.deepEqual([record.state, record.error], ['failed', 'There is no source /in any more']);
  await released();
  assert.deepEqual(calls, ['abandon: failed', 'release']);
  assert.deepEqual(dispatcher.view.shards(), { queued: 0, paused: 0, leased: 0, done: 0 });
});

test('an output that cannot be written fails the job with its sentence', async (t) => {
  const { dispatcher, calls, ended, released } = await setStage(t, {
    finalise: async () => {
      throw new Error('The disk is full');
    },
  });
  attachWorker(dispatcher);
  await dispatcher.jobs.submit(job);
  const record = await ended();
  assert.deepEqual([record.state, record.error], ['failed', 'The disk is full']);
  await released();
  assert.deepEqual(calls, ['abandon: failed', 'release']);
});

test('a job that another coordinator leads by now is not abandoned when it fails here', async (t) => {
  const registry = new MemoryRegistry();
  const { dispatcher, calls } = await setStage(
    t,
    {
      finalise: async () => {
        await registry.acquire('another', 0);
        throw new Error('The part is gone');
      },
    },
    { registry },
  );
  attachWorker(dispatcher);
  await dispatcher.jobs.submit(job);
  await eventually('the folder to be released', () => calls.includes('release'));
  assert.deepEqual(calls, ['release']);
});

test('tables are started with the first lease, told of every result, and finished or aborted with the job', async (t) => {
  const tables: string[] = [];
  const told = {
    start: () => void tables.push('start'),
    advance: () => void tables.push('advance'),
    finish: async (sources: number) => {
      tables.push(`finish ${sources}`);
      return [];
    },
    abort: async () => void tables.push('abort'),
  };
  const complete = await setStage(t, {
    tables: (_job, { settled }) => {
      return { ...told, advance: async () => void tables.push(`settled ${(await settled(0, 9)).next}`) };
    },
    finalise: async (results, _pipeline, { tables: begun }) => {
      await begun.finish(results.job.counts.sources, [{}]);
      return noOutput;
    },
  });
  attachWorker(complete.dispatcher);
  await complete.dispatcher.jobs.submit(job);
  assert.equal((await complete.ended()).state, 'complete');
  assert.equal(tables[0], 'start');
  const [first, ...later] = tables.filter((call) => call !== 'start');
  // Both results may be in the ledger at the first call.
  assert.match(first!, /^settled [12]$/);
  assert.deepEqual(later, ['settled 2', 'finish 2']);

  tables.length = 0;
  const failing = await setStage(t, {
    tables: (_job, { failed }) => {
      return { ...told, start: () => failed(new Error('The disk is full')) };
    },
  });
  attachWorker(failing.dispatcher);
  await failing.dispatcher.jobs.submit(job);
  const { state, error } = await failing.ended();
  assert.deepEqual([state, error], ['failed', 'The disk is full']);
  assert.ok(tables.includes('abort') && !tables.includes('finish 2'), tables.join());

  tables.length = 0;
  const closing = await setStage(t, { tables: () => told });
  await closing.dispatcher.jobs.submit(job);
  await closing.dispatcher.close();
  assert.ok(tables.includes('abort'));
});

test('a ledger that takes no results fails the job with its sentence', async (t) => {
  const { dispatcher, ledger, ended } = await setStage(t);
  ledger.commit = async () => {
    throw new Error('The ledger is read-only');
  };
  attachWorker(dispatcher);
  await dispatcher.jobs.submit(job);
  const record = await ended();
  assert.deepEqual([record.state, record.error], ['failed', 'The ledger is read-only']);
});

test('if the sources of a shard cannot be read from the log, the job waits for its folder, and fails for any other reason', async (t) => {
  const away = Object.assign(new Error("ESTALE: stale file handle, open 'log-1'"), { code: 'ESTALE' });
  const scratch = await mkdtemp(join(folder, 'scratch-'));
  for (const [error, expected] of [
    [away, ['complete', '']],
    [new Error('The log has changed'), ['failed', 'The log has changed']],
  ] as const) {
    const { dispatcher, ended } = await setStage(t);
    let failures = 2;
    attachWorker(dispatcher, 1000, () => {
      if (failures-- > 0) throw error;
    });
    await dispatcher.jobs.submit({ ...job, scratch: pathToFileURL(scratch).href });
    const record = await ended();
    assert.deepEqual([record.state, record.error], expected);
  }
});

test('a job is cancelled while it is finalised', async (t) => {
  const finalising = Promise.withResolvers<void>();
  const { dispatcher, ledger, calls } = await setStage(t, {
    finalise: (_results, _pipeline, _begun, _now, signal) => {
      finalising.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  });
  attachWorker(dispatcher);
  await dispatcher.jobs.submit(job);
  await within('the job to be finalised', finalising.promise);
  await dispatcher.jobs.cancel('job');
  assert.equal((await ledger.getJob('job'))?.state, 'cancelled');
  assert.deepEqual(calls, ['abandon: cancelled', 'release']);
});

test('a plan far longer than the queue is pulled only as its shards are leased', async (t) => {
  let pulled = 0;
  let mostAhead = 0;
  const work: Partial<JobWork> = {
    async *plan() {
      for await (const steps of frames(800)) {
        pulled++;
        const { leased, done } = dispatcher.view.shards();
        mostAhead = Math.max(mostAhead, pulled - leased - done);
        yield steps;
      }
    },
  };
  const { dispatcher, ended } = await setStage(t, work, { maxQueuedShards: 64 });
  await dispatcher.jobs.submit(job);
  await eventually('a full queue', () => dispatcher.view.shards().queued >= 64);
  await turns(20);
  attachWorker(dispatcher);
  const record = await ended();
  // While the ledger writes, at most one more batch is planned.
  assert.ok(mostAhead < 64 + 512, `${mostAhead} shards were planned ahead`);
  assert.deepEqual([record.state, record.counts.shardsDone, pulled], ['complete', 800, 800]);
});

test('closing leaves a running job as it is', async (t) => {
  const { dispatcher, ledger, calls } = await setStage(t);
  await dispatcher.jobs.submit(job);
  await eventually('both shards to be queued', () => dispatcher.view.shards().queued === 2);
  await dispatcher.close();
  assert.equal((await ledger.getJob('job'))?.state, 'running');
  assert.deepEqual(calls, ['release']);
});

test('waiting for a change of an unknown or ended job ends at once', async (t) => {
  const { dispatcher, ended, released } = await setStage(t);
  await within('a change of an unknown job', dispatcher.jobs.changed('nobody'));
  attachWorker(dispatcher);
  await dispatcher.jobs.submit(job);
  await ended();
  await released();
  await within('a change of a job that has ended', dispatcher.jobs.changed(job.jobId));
});

test('an image of far more tiles than are planned ahead is set aside because of its first tile, and the job ends', async (t) => {
  const tiles = 5_000;
  const rect = (x: number) => ({ x, y: 0, width: 1, height: 1 });
  async function* plan(): AsyncGenerator<PlanStep[]> {
    const sources = plannedSources([{ index: 0, uri: 'file:///in/a.png', tiles }]);
    yield [{ kind: 'sources', sources }];
    for (let x = 0; x < tiles; x++) {
      const work = { kind: 'tile' as const, sources, size: { width: tiles, height: 1 }, rect: rect(x) };
      yield [{ kind: 'shard', shard: { shard: x, work, costBytes: 1 } }];
    }
  }
  const { dispatcher, ended } = await setStage(t, { plan });
  const hello = Hello.fromPartial({ nodeId: 'worker', name: 'worker', creditBytes: 1000 });
  const report = (answer: NodeReport) => setImmediate(() => dispatcher.nodes.report(session, answer));
  const session = dispatcher.nodes.attach(hello, {
    welcome() {},
    lease: ({ lease }) => {
      const errors = [{ source: 0, stage: 'decode', error: 'The image data is damaged', cause: Cause.CONTENT }];
      const answer = { results: [], errors, stageSeconds: {}, inputBytes: 0 };
      report({ kind: 'ShardCompleted', lease, answer });
    },
    recall() {},
    bring() {},
    kept() {},
    probe: ({ probe }) => report({ kind: 'NodeLooked', sight: { probe, files: [], error: '' } }),
    search() {},
    creditTaken() {},
    drop() {},
  });
  await dispatcher.jobs.submit(job);
  const { state, counts, error } = await ended();
  assert.deepEqual([state, error, counts.shardsDone, counts.quarantined], ['complete', '', tiles, 1]);
  assert.ok(counts.attempts < 100, `${counts.attempts} leases`);
});
