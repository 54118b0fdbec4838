import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import { JobSpec } from '@halogrid/proto';
import { systemClock } from '@halogrid/service/clock';
import { createLog } from '@halogrid/service/log';
import { createRegistry } from '@halogrid/service/metrics';
import { abandonJob } from '../output/finalise.ts';
import { claimOutputFolder, releaseOutputFolder } from '../output/output-folder.ts';
import { noOutput, noTables } from '../testing/no-tables.ts';
import { Dispatcher } from './dispatcher.ts';
import { resumeHalfWay } from './resume-in-folder.ts';
import { cancelEnded, resumeInLedger } from './resume-in-ledger.ts';
import { createMetrics } from './work-metrics.ts';

/** A job that has failed because its disk was full, in its folder and in a ledger of all jobs. */
async function stage(t: TestContext) {
  const path = await mkdtemp(join(tmpdir(), 'halogrid-go-on-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  const spec = JobSpec.fromPartial({
    sources: ['file:///in'],
    pipeline: { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] },
    out: pathToFileURL(path).href,
  });
  const ledger = await openLogLedger(join(path, '.halogrid', 'logs'));
  const log = createLog('test', 'silent');
  await claimOutputFolder(spec.out, { jobId: 'job', spec });
  await ledger.createJob({ jobId: 'job', spec, submittedMs: 1 });
  await mkdir(join(path, '.halogrid', 'map'));
  await mkdir(join(path, '.halogrid', 'output-1'));
  await writeFile(join(path, '.halogrid', 'features.parquet.x.tmp'), 'half of it');
  const error = 'There is no room';
  const record = (await ledger.getJob('job'))!;
  const canGoOn = await abandonJob(record, { state: 'failed', error, isWant: true }, 2);
  assert.equal(canGoOn, true);
  await ledger.setState('job', 'failed', { nowMs: 2, error, canGoOn });
  releaseOutputFolder(spec.out);
  const dispatcher = new Dispatcher({
    ledger,
    work: {
      async *plan() {},
      tables: () => noTables,
      finalise: async () => noOutput,
      abandon: abandonJob,
      release: releaseOutputFolder,
    },
    clock: systemClock,
    reportWithinMs: 600_000,
    metrics: createMetrics(createRegistry('coordinator')),
    log,
    cancelEnded: (jobId) => cancelEnded(recovery, jobId),
  });
  const recovery = { ledger, jobs: dispatcher.jobs, clock: systemClock, log };
  t.after(async () => {
    await dispatcher.close();
    await ledger.close();
  });
  const jobJson = async () => JSON.parse(await readFile(join(path, 'job.json'), 'utf8'));
  const submit = (given: JobSpec) => resumeHalfWay(given, false, (job) => resumeInLedger(job, recovery));
  return { path, spec, ledger, dispatcher, jobJson, submit };
}

test('a job that failed for want of room keeps what is done, and goes on when the same is submitted again', async (t) => {
  const { path, spec, ledger, dispatcher, jobJson, submit } = await stage(t);
  const { state, error, canGoOn } = await jobJson();
  assert.deepEqual([state, error, canGoOn], ['failed', 'There is no room', true]);
  assert.deepEqual(await readdir(join(path, '.halogrid')), ['logs', 'map'], 'files that are made again take no room');
  assert.equal(await submit({ ...spec, mapFormat: 'tiff' }), undefined, 'another job does not go on');
  assert.equal(await submit({ ...spec, fresh: true }), undefined);
  assert.equal(await submit({ ...spec, waitForNode: true }), 'job');
  await dispatcher.jobs.ended('job');
  assert.equal((await ledger.getJob('job'))!.state, 'complete');
  assert.equal(await submit(spec), undefined);
});

test('a job that could go on is cancelled: nothing but its job.json is left', async (t) => {
  const { path, spec, ledger, dispatcher, jobJson, submit } = await stage(t);
  await dispatcher.jobs.cancel('job');
  assert.deepEqual([(await ledger.getJob('job'))!.state, (await jobJson()).state], ['cancelled', 'cancelled']);
  assert.deepEqual(await readdir(path), ['job.json']);
  assert.equal(await submit(spec), undefined);
});

test('a job that could go on, but whose folder another job has by now, is cancelled without a change to the folder', async (t) => {
  const { path, spec, ledger, dispatcher, jobJson } = await stage(t);
  await rm(path, { recursive: true });
  await claimOutputFolder(spec.out, { jobId: 'next', spec });
  await dispatcher.jobs.cancel('job');
  assert.deepEqual([(await ledger.getJob('job'))!.state, (await jobJson()).id], ['cancelled', 'next']);
  releaseOutputFolder(spec.out);
});
