import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { status } from '@grpc/grpc-js';
import { jobPipeline } from '@halogrid/jobs/accepted-job';
import { planOf, spec } from '@halogrid/ledger/testing-ledger-scene';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import { Cause, JobState, type JobStatus, type Lease, type MaxQuarantined } from '@halogrid/proto';
import { systemClock } from '@halogrid/service/clock';
import { createLog } from '@halogrid/service/log';
import { ScriptedNode } from '../services/testing/scripted-node.ts';
import {
  complete,
  refusalOf,
  refuse,
  setStage,
  specOf,
  submit,
  watchToEnd,
  writeImages,
} from '../testing/coordinator-stage.ts';
import { leasedSources } from '../testing/leased-sources.ts';
import { noOutput, noTables } from '../testing/no-tables.ts';
import { JobRun } from './job-run.ts';
import type { JobWork } from './job-work.ts';

const inputs = (value: number): MaxQuarantined => ({ limit: { $case: 'inputs', value } });
const percent = (value: number): MaxQuarantined => ({ limit: { $case: 'percent', value } });

/** Answers that no source of the lease can be decoded. */
async function refuseAll(node: ScriptedNode, lease: Lease): Promise<void> {
  const errors = leasedSources(lease).map(({ index }) => {
    return { source: index, stage: 'decode', error: `Ends at byte ${index}`, cause: Cause.CONTENT };
  });
  await refuse(node, lease, errors);
}

test('a job fails as soon as nodes find more inputs bad than it may lose', async (t) => {
  const { coordinator, jobs, folder } = await setStage(t);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const sources = await writeImages(folder, 5);
  const { jobId } = await submit(jobs, specOf(folder, sources, { maxQuarantined: inputs(1) }));
  const watched = watchToEnd(jobs, jobId);
  for (let shard = 0; shard < 2; shard++) await refuseAll(node, await node.next('lease'));
  const last = (await watched).at(-1)!;
  assert.deepEqual([last.state, last.counts!.quarantined], [JobState.FAILED, 2]);
  assert.equal(
    last.error,
    `More inputs are quarantined (2) than the job allows (1): 2 of them: Ends at byte 0, e.g. ${sources[0]}`,
  );
  const reasons = [{ stage: 'decode', error: 'Ends at byte 0', inputs: 2, example: sources[0]! }];
  assert.deepEqual(last.reasons, reasons);
  assert.deepEqual(await readdir(join(folder, 'out')), ['job.json']);
  const written = JSON.parse(await readFile(join(folder, 'out', 'job.json'), 'utf8'));
  assert.deepEqual([written.state, written.error, written.quarantine], ['failed', last.error, reasons]);
  const api = `http://127.0.0.1:${coordinator.httpPort}/api/v1/jobs`;
  const { jobs: listed } = (await (await fetch(api)).json()) as { jobs: JobStatus[] };
  assert.deepEqual(listed[0]!.reasons, reasons);
  node.hangUp();
});

test('a job may lose as many inputs as it allows, to the last shard', async (t) => {
  const { coordinator, jobs, folder } = await setStage(t);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const sources = await writeImages(folder, 4);
  const { jobId } = await submit(jobs, specOf(folder, sources, { maxQuarantined: percent(50) }));
  const watched = watchToEnd(jobs, jobId);
  for (let shard = 0; shard < 4; shard++) {
    const lease = await node.next('lease');
    if (shard % 2 === 0) await complete(node, lease);
    else await refuseAll(node, lease);
  }
  const last = (await watched).at(-1)!;
  assert.deepEqual([last.state, last.error, last.counts!.quarantined], [JobState.COMPLETE, '', 2]);
  node.hangUp();
});

test('a job that the last shard makes lose too many is not completed', async (t) => {
  const { coordinator, jobs, folder } = await setStage(t);
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 1), { maxQuarantined: percent(99) }));
  const watched = watchToEnd(jobs, jobId);
  await refuseAll(node, await node.next('lease'));
  assert.match((await watched).at(-1)!.error, /^More inputs are quarantined \(1\) than .* allows \(99% of 1\): /);
  node.hangUp();
});

test('inputs that the planner cannot read count, and a part of them once all are planned', async (t) => {
  const { jobs, folder } = await setStage(t);
  const broken = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      await writeFile(join(folder, `${name}.png`), 'no picture');
      return pathToFileURL(join(folder, `${name}.png`)).href;
    }),
  );
  // If tiles are asked for, the planner opens every image; there is no node.
  const end = async (out: string, maxQuarantined: MaxQuarantined, sources: string[]): Promise<JobStatus> => {
    const at = join(folder, out);
    const { jobId } = await submit(jobs, specOf(at, sources, { tilePx: 64, maxQuarantined }));
    return (await watchToEnd(jobs, jobId)).at(-1)!;
  };
  const sources = [...broken, ...(await writeImages(folder, 3))];
  assert.match((await end('number', inputs(2), sources)).error, /\(3\) than the job allows \(2\): 3 of them: /);
  assert.match((await end('none', percent(0), sources)).error, /allows \(0%.*\): (?:\d of them: )?/);
  assert.match((await end('part', percent(49.9), sources)).error, /\(3\) than the job allows \(49.9% of 6\): /);
  assert.equal((await end('all', percent(100), broken)).state, JobState.COMPLETE);
});

test('a limit that is not valid is refused', async (t) => {
  const { jobs, folder } = await setStage(t);
  const { code, details } = await refusalOf(
    submit(jobs, specOf(folder, await writeImages(folder, 1), { maxQuarantined: percent(101) })),
  );
  assert.equal(code, status.INVALID_ARGUMENT);
  assert.equal(details, "Expected 0 to 100 for max_quarantined.percent but received '101'");
});

test('the option to wait for a node is passed on as given', async (t) => {
  const { jobs, folder } = await setStage(t);
  const sources = await writeImages(folder, 1);
  const waiting = await submit(jobs, specOf(join(folder, 'a'), sources, { waitForNode: true }));
  const other = await submit(jobs, specOf(join(folder, 'b'), sources, { waitForNode: false }));
  assert.deepEqual([waiting.spec!.waitForNode, other.spec!.waitForNode], [true, undefined]);
});

const idle: JobWork = {
  plan: async function* () {},
  tables: () => noTables,
  finalise: async () => noOutput,
  abandon: async () => false,
  release: () => {},
};

/** How a job ends whose plan sets one source aside, and whose only shard is given up if `isGivenUp`. */
async function endOf(allowed: number, isGivenUp: boolean): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-quarantined-'));
  const ledger = await openLogLedger(folder);
  const steps = planOf(
    Array.from({ length: 2 }, () => ({ width: 1, height: 1 })),
    1,
    1,
    new Set([0]),
  );
  await ledger.createJob({ jobId: 'job', spec, submittedMs: 1 });
  await ledger.addPlan('job', steps, true);
  const job = {
    jobId: 'job',
    spec: { ...spec, maxQuarantined: inputs(allowed) },
    pipeline: jobPipeline(spec),
    scratch: '',
  };
  const context = { ledger, work: idle, clock: systemClock, log: createLog('test', 'silent') };
  const run: JobRun = new JobRun(job, context, {
    planned: () => {},
    planEnded: async () => {
      if (isGivenUp) await ledger.quarantineShard('job', 0, 'Given up', 3);
      if (isGivenUp) run.shardsDone();
    },
    lost: () => {},
    queued: () => ({ shards: 0, sources: 0 }),
    isBesideOthers: () => false,
    abandoned: () => {},
    changed: () => {},
  });
  await run.ended;
  const { state, error } = (await ledger.getJob('job'))!;
  await ledger.close();
  await rm(folder, { recursive: true });
  return error || state;
}

test('a job that goes on with a lower limit than it has reached fails at once', async () => {
  assert.match(await endOf(0, false), /^More inputs are quarantined \(1\) than the job allows \(0\): /);
});

test('a job that has lost too many inputs is never completed, whether its plan or a shard loses them', async () => {
  assert.match(await endOf(1, true), /^More inputs are quarantined \(2\) than the job allows \(1\): /);
  assert.equal(await endOf(2, true), 'complete');
});
