import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { PlannedStep } from '@halogrid/jobs/shard';
import { readable, sourcesOf } from '@halogrid/jobs/testing-planned';
import { createPipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { restrictSources, unrestricted } from '@halogrid/sources';
import { eventually, pause, timeoutMs, turns } from '@halogrid/testing';
import { ThreadLife } from '@halogrid/threads';
import type { ThreadSetup } from './listing-thread.ts';
import { type PlanLimits, PlanThreads, planLimits } from './plan-threads.ts';
import { planJob } from './planner.ts';

/** More than the thread plans ahead. */
const frames = 1200;
const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);
let folder: string;

/** A folder of small frames, a broken one, and an image that is cut. */
before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'halogrid-plan-thread-')));
  await mkdir(join(folder, 'cam'));
  const write = (name: string, content: string) => writeFile(join(folder, 'cam', name), content);
  const numbers = Array.from({ length: frames }, (_, i) => i);
  await Promise.all(numbers.map((i) => write(`${i}.pgm`, 'P5\n2 2\n255\nabcd')));
  await write('empty.pgm', '');
  await writeFile(join(folder, 'wide.pgm'), `P5\n300 2\n255\n${'.'.repeat(600)}`);
});
/** Threads for tests that do not harm them, and leave them idle. */
const shared = new PlanThreads();
after(async () => {
  await shared.close();
  await rm(folder, { recursive: true });
});

const specOf = (names: string[], more: Partial<JobSpec> = {}): JobSpec => ({
  sources: names.map((name) => pathToFileURL(join(folder, name)).href),
  pipeline: { operations: pipeline.operations.map(({ kernel, border }) => ({ kernel, parameters: {}, border })) },
  op: [],
  tilePx: 0,
  batchFrames: 0,
  mapFormat: '',
  out: pathToFileURL(join(folder, 'out')).href,
  grid: undefined,
  video: undefined,
  checksum: false,
  fresh: true,
  ...more,
});

function startThread(
  t: { after: (end: () => Promise<void>) => void },
  program?: URL,
  limits?: PlanLimits,
): PlanThreads {
  const thread = new PlanThreads(program, limits);
  t.after(() => thread.close());
  return thread;
}

test('a thread makes the same plan as this one would, several at a time', async () => {
  const specs = [specOf(['cam', 'wide.pgm']), specOf(['cam'], { tilePx: 32 }), specOf(['wide.pgm'], { tilePx: 64 })];
  const plans = await Promise.all(specs.map((spec) => Array.fromAsync(shared.plan(spec))));
  for (const [i, spec] of specs.entries()) {
    const made = await Array.fromAsync(planJob(spec, pipeline));
    assert.deepEqual(undecided(plans[i]!.flat()), undecided(made.flat()));
  }
});

/** Steps without the choice of sources that may get a preview: it depends on how far ahead files are listed. */
const undecided = (steps: readonly PlannedStep[]): unknown =>
  JSON.parse(JSON.stringify(readable(steps), (key, value) => (key === 'preview' ? undefined : value)));

test('an error that ends a plan keeps its message', async () => {
  await assert.rejects(Array.fromAsync(shared.plan(specOf(['nowhere']))), { message: /does not exist$/ });
});

test('a host that stays away ends a plan with WantError', async () => {
  const steps = shared.plan(specOf([], { sources: ['http://127.0.0.1:1/a.png'] }));
  await assert.rejects(Array.fromAsync(steps), { name: 'WantError', message: /^The host '127.0.0.1:1' was away/ });
});

test('the thread reads only what the process may read', async (t) => {
  t.after(() => restrictSources(unrestricted));
  restrictSources({ roots: [join(folder, 'cam')], hosts: [] });
  const thread = startThread(t);
  const steps = (await Array.fromAsync(thread.plan(specOf(['cam'])))).flat();
  assert.equal(sourcesOf(steps).length, frames + 1);
  await assert.rejects(Array.fromAsync(thread.plan(specOf(['wide.pgm']))), /data roots/);
});

test('steps come only as they are used', async (t) => {
  const workerData: ThreadSetup = { access: unrestricted, life: new ThreadLife().shown };
  const worker = new Worker(new URL('./plan-worker.ts', import.meta.url), { workerData });
  t.after(() => worker.terminate());
  const order = async () => {
    const { port1: port, port2 } = new MessageChannel();
    t.after(() => port.close());
    const plan = { port, answers: 0 };
    port.on('message', () => plan.answers++);
    worker.postMessage({ kind: 'plan', spec: specOf(['cam']), port: port2 }, [port2]);
    await eventually('the first answer to a plan', () => plan.answers > 0);
    return plan;
  };
  const plan = await order();
  // If the plan sent answers unasked, they would come before the first answer to a later order.
  await order();
  assert.equal(plan.answers, 1);
  plan.port.postMessage('used');
  await eventually('the second answer', () => plan.answers > 1);
  await order();
  assert.equal(plan.answers, 2);
});

test('a plan ends when its caller wants no more', async () => {
  const steps = shared.plan(specOf(['cam']));
  assert.equal((await steps.next()).value?.[0]?.kind, 'sources');
  await steps.return(undefined);
  assert.deepEqual(await steps.next(), { done: true, value: undefined });
});

test('an abort ends a plan with its reason, whether steps come or not', async (t) => {
  const silence =
    'import { parentPort as p } from "node:worker_threads"; p.on("message", (m) => m === "end" && p.close())';
  const silent = startThread(t, new URL(`data:text/javascript,${encodeURIComponent(silence)}`));
  for (const thread of [shared, silent]) {
    const controller = new AbortController();
    const steps = thread.plan(specOf(['cam']), controller.signal);
    if (thread !== silent) await steps.next();
    const next = steps.next();
    if (thread === silent) await turns(10);
    controller.abort('enough');
    await assert.rejects(next, (error) => error === 'enough');
  }
});

/**
 * A program that loops without end on sources with certain names, as code that trusts a damaged file may; it plans
 * other sources.
 */
const circles = new URL('./testing/circles-worker.ts', import.meta.url);
/** Long enough for healthy threads, and short enough for a test. */
const quick: PlanLimits = { ...planLimits, stuckComputedMs: 800, stuckMs: timeoutMs(60_000), stopMs: 100 };
const gaveUp = (why: string): RegExp => new RegExp(`^Listing the sources was given up at 'file:.*/${why}`);

test('a plan or check in an endless loop is ended with the source it is at, and keeps no other waiting', async (t) => {
  const threads = startThread(t, circles, quick);
  const stuck = ['cam', 'circles.parquet'];
  const message = gaveUp("circles.parquet': it gave no sign of life for 0.8 s of processor time$");
  const asked = [Array.fromAsync(threads.plan(specOf(stuck))), threads.check(specOf(stuck).sources)];
  const failed = Promise.all(asked.map((one) => assert.rejects(one, { message })));
  const other = await Array.fromAsync(threads.plan(specOf(['cam'])));
  assert.ok(other.flat().length > 0);
  await failed;
  await Array.fromAsync(threads.plan(specOf(['cam'])));
});

test('a plan that takes too much memory is ended, and the process goes on', async (t) => {
  const threads = startThread(t, circles, { ...quick, heapMb: 64 });
  await assert.rejects(Array.fromAsync(threads.plan(specOf(['hoards.parquet']))), {
    message: gaveUp("hoards.parquet': it took more than 64 MiB of memory$"),
  });
  await Array.fromAsync(threads.plan(specOf(['cam'])));
});

test('a caller that waits for its turn may leave, and an endless loop is ended when its caller is gone', async (t) => {
  const threads = startThread(t, circles, { ...quick, stuckComputedMs: 1e9, stuckMs: 1e9, checks: 2 });
  const gone = new AbortController();
  const checks = Array.from({ length: 3 }, () =>
    threads.check(specOf(['circles.parquet']).sources, undefined, { signal: gone.signal }),
  );
  await pause(50);
  gone.abort('gone');
  for (const check of checks) await assert.rejects(check, (reason) => reason === 'gone');
  // They hold all places until they have ended.
  await threads.check(specOf(['cam']).sources);
});

test('closing ends a plan in an endless loop', async (t) => {
  const threads = startThread(t, circles, { ...quick, stuckComputedMs: 1e9, stuckMs: 1e9 });
  const plan = Array.fromAsync(threads.plan(specOf(['circles.parquet'])));
  const ended = assert.rejects(plan, { message: /^Listing the sources was given up/ });
  // By then it should be in the loop.
  await pause(300);
  await threads.close();
  await ended;
  await assert.rejects(threads.check(specOf(['cam']).sources), { message: /the coordinator ends$/ });
});

test('a thread that ends fails its plan and says how, and the next plan gets another thread', async (t) => {
  const endings: [program: string, how: RegExp][] = [
    ['process.exit(3)', /^Listing the sources was given up at 'file:.*cam': it exited with 3$/],
    ['throw new Error("no more")', /^Listing the sources was given up at 'file:.*cam': no more$/],
  ];
  for (const [ending, message] of endings) {
    const dies = `import { parentPort as p } from "node:worker_threads"; p.on("message", () => { ${ending} })`;
    const thread = startThread(t, new URL(`data:text/javascript,${encodeURIComponent(dies)}`));
    for (let i = 0; i < 2; i++) {
      await assert.rejects(Array.fromAsync(thread.plan(specOf(['cam']))), { message });
    }
  }
});
