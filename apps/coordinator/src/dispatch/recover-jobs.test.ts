import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type JobRecord, MemoryRegistry } from '@halogrid/ledger';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import { JobSpec } from '@halogrid/proto';
import { systemClock } from '@halogrid/service/clock';
import { createLog } from '@halogrid/service/log';
import { createRegistry } from '@halogrid/service/metrics';
import { claimOutputFolder, releaseOutputFolder } from '../output/output-folder.ts';
import { noOutput, noTables } from '../testing/no-tables.ts';
import { Dispatcher } from './dispatcher.ts';
import { recoverJobs } from './recover-jobs.ts';
import { createMetrics } from './work-metrics.ts';

/** Recovers a job whose coordinator died, after `change` to its folder; `calls` lists what the successor did. */
async function recovered(t: TestContext, change: (path: string) => Promise<unknown>) {
  const path = await mkdtemp(join(tmpdir(), 'halogrid-recover-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  const spec = JobSpec.fromPartial({
    sources: ['file:///in'],
    pipeline: { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] },
    out: pathToFileURL(path).href,
  });
  const registry = new MemoryRegistry();
  const before = await openLogLedger(join(path, '.halogrid'), registry);
  await claimOutputFolder(spec.out, { jobId: 'job', spec });
  await before.createJob({ jobId: 'job', spec, submittedMs: 1 });
  await before.setState('job', 'running', { nowMs: 2 });
  await before.close();
  releaseOutputFolder(spec.out);
  await change(path);

  const ledger = await openLogLedger(join(path, '.halogrid'), registry);
  const log = createLog('test', 'silent');
  const ended = Promise.withResolvers<void>();
  const dispatcher = new Dispatcher({
    ledger,
    work: {
      async *plan() {},
      tables: () => noTables,
      finalise: async () => noOutput,
      abandon: async () => false,
      release: (out) => {
        releaseOutputFolder(out);
        ended.resolve();
      },
    },
    clock: systemClock,
    reportWithinMs: 600_000,
    metrics: createMetrics(createRegistry('coordinator')),
    log,
  });
  t.after(async () => {
    await dispatcher.close();
    await ledger.close();
  });
  await recoverJobs({ ledger, jobs: dispatcher.jobs, clock: systemClock, log });
  const jobJson = JSON.parse(await readFile(join(path, 'job.json'), 'utf8'));
  return { path, jobJson, ended: ended.promise, job: async () => (await ledger.getJob('job')) as JobRecord };
}

const editJobJson = async (path: string, changes: object): Promise<void> => {
  const file = join(path, 'job.json');
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...changes }));
};

test('a job goes on to its end, in a folder that says who runs it now', async (t) => {
  const { job, ended, jobJson } = await recovered(t, (path) =>
    editJobJson(path, { coordinator: { host: 'x', pid: 1 } }),
  );
  assert.equal(jobJson.coordinator.pid, process.pid);
  await ended;
  assert.equal((await job()).state, 'complete');
});

test('a job whose job.json has its end gets that end, and keeps its files', async (t) => {
  const ends = [
    { state: 'complete', digest: 'abc' },
    { state: 'failed', error: 'The disk is full' },
    { state: 'cancelled' },
  ];
  for (const end of ends) {
    const { path, job } = await recovered(t, (folder) => editJobJson(folder, end));
    const { state, digest, error } = await job();
    assert.deepEqual({ state, digest, error }, { digest: '', error: '', ...end });
    assert.deepEqual(await readdir(path), ['job.json']);
  }
});

test('a job whose output is complete has the counts of that, though its ledger was restored from an older backup', async (t) => {
  const counts = { sources: 40, frames: 39, shards: 39, attempts: 41, pixels: 1_240_000, quarantined: 1 };
  const { job } = await recovered(t, (folder) => editJobJson(folder, { state: 'complete', digest: 'abc', counts }));
  assert.deepEqual((await job()).counts, { ...counts, shardsDone: 39 });
});

test('a job fails if another job has its folder by now, and the folder is left as it is', async (t) => {
  const { path, job } = await recovered(t, async (folder) => {
    await editJobJson(folder, { id: 'job-2' });
    await mkdir(join(folder, 'maps'));
  });
  const { state, error } = await job();
  assert.equal(state, 'failed');
  assert.equal(error, `The output folder '${path}' holds job job-2 instead of job job, which began there`);
  assert.deepEqual(await readdir(path), ['.halogrid', 'job.json', 'maps']);
});
