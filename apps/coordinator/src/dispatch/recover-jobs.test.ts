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
import { setVariables } from '@halogrid/sources/testing-files';
import { startTestS3 } from '@halogrid/sources/testing-servers';
import { claimOutputFolder, releaseOutputFolder } from '../output/output-folder.ts';
import { noOutput, noTables } from '../testing/no-tables.ts';
import { Dispatcher } from './dispatcher.ts';
import { recoverJobs } from './recover-jobs.ts';
import { createMetrics } from './work-metrics.ts';

/**
 * Recovers a job whose coordinator died, after `change` to its folder. `bucket`: the URI of its output, if that is not
 * the folder; then another coordinator recovers it.
 */
async function recovered(t: TestContext, change: (path: string) => Promise<unknown>, bucket?: string) {
  const path = await mkdtemp(join(tmpdir(), 'halogrid-recover-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  const isShared = bucket !== undefined;
  const spec = JobSpec.fromPartial({
    sources: ['file:///in'],
    pipeline: { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] },
    out: bucket ?? pathToFileURL(path).href,
  });
  const registry = new MemoryRegistry();
  const before = await openLogLedger(join(path, '.halogrid'), registry);
  await claimOutputFolder(spec.out, { jobId: 'job', spec }, { isShared });
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
  await recoverJobs({ ledger, jobs: dispatcher.jobs, clock: systemClock, log, isShared });
  const jobJson = isShared ? undefined : JSON.parse(await readFile(join(path, 'job.json'), 'utf8'));
  return {
    path,
    jobJson,
    jobs: dispatcher.jobs,
    ended: ended.promise,
    job: async () => (await ledger.getJob('job')) as JobRecord,
  };
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

/** A store that refuses so many requests after `lose`, which also takes the scratch of the job's coordinator away. */
async function storeWithLoss(t: TestContext, refusals: number) {
  let refused = 0;
  const options = { accessKeyId: 'AK', secretAccessKey: 'SK', region: 'us-east-1', bucket: 'results' };
  const store = await startTestS3({ ...options, fault: () => (refused-- > 0 ? 'refuse' : undefined) });
  const scratch = await mkdtemp(join(tmpdir(), 'halogrid-scratch-'));
  setVariables({ ...store.environment, HALOGRID_SCRATCH: scratch });
  t.after(async () => {
    delete process.env.HALOGRID_SCRATCH;
    await store.close();
    await rm(scratch, { recursive: true, force: true });
  });
  const lose = async (): Promise<void> => {
    await rm(join(scratch, 's3'), { recursive: true });
    refused = refusals;
  };
  return { store, lose };
}

test('a job in a bucket goes on without the folder of its coordinator, once the bucket can be reached', async (t) => {
  const { lose } = await storeWithLoss(t, 3);
  const { job, ended } = await recovered(t, lose, 's3://results/out');
  assert.equal((await job()).state, 'running', 'it waits, and holds nothing else up');
  await ended;
  assert.equal((await job()).state, 'complete');
});

test('a job in a bucket that was published just before its coordinator died gets its end', async (t) => {
  const { store, lose } = await storeWithLoss(t, 1);
  const publish = async (): Promise<void> => {
    await lose();
    const claim = JSON.parse(store.objects.get('out/.halogrid/claims/00000001.json')!.toString());
    store.objects.set('out/.halogrid/claims/00000002.json', Buffer.from('{"state":"ended"}'));
    store.objects.set('out/job.json', Buffer.from(JSON.stringify({ ...claim, state: 'complete', digest: 'abc' })));
  };
  const { job, jobs, ended } = await recovered(t, publish, 's3://results/out');
  const isTold = jobs.changed('job');
  await ended;
  await isTold;
  const { state, digest } = await job();
  assert.deepEqual({ state, digest }, { state: 'complete', digest: 'abc' });
});
