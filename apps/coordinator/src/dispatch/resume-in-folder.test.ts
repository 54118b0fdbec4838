import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { batchSteps } from '@halogrid/jobs/testing-planned';
import { FolderLogs, logFormat } from '@halogrid/ledger';
import { otherFormat } from '@halogrid/ledger/testing-other-format';
import { JobSpec } from '@halogrid/proto';
import { type Log, UsageError } from '@halogrid/service';
import { systemClock } from '@halogrid/service/clock';
import { createLog } from '@halogrid/service/log';
import { claimOutputFolder, releaseOutputFolder } from '../output/output-folder.ts';
import type { JobDriver } from './job-driver.ts';
import { createFolderLedger } from './open-ledger.ts';
import { resumeInFolder } from './resume-in-folder.ts';

const jobId = 'job';
const steps = [0, 1].map((index) => batchSteps(index, [{ index, uri: `file:///${index}` }]));

/** A job that two processes left half-way in its folder, one after another: each planned one of its two shards. */
async function stage(t: TestContext) {
  const path = await mkdtemp(join(tmpdir(), 'halogrid-left-half-way-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  const spec = JobSpec.fromPartial({
    sources: ['file:///in'],
    out: pathToFileURL(path).href,
    pipeline: { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] },
  });
  await claimOutputFolder(spec.out, { jobId, spec });
  const warnings: string[] = [];
  const log: Log = createLog('test', 'silent');
  log.warn = (_: unknown, sentence?: string) => warnings.push(sentence!);
  const context = { clock: systemClock, log, lost: () => {} };
  const first = createFolderLedger(context);
  await first.createJob({ jobId, spec, submittedMs: 1 });
  await first.addPlan(jobId, steps[0]!, false);
  await first.close();
  releaseOutputFolder(spec.out);
  /** Resolves with the shards that are not done; undefined: the job begins again. */
  const goOn = async (more?: (typeof steps)[0]): Promise<number[] | undefined> => {
    const ledger = createFolderLedger(context);
    let shards: number[] | undefined;
    const resume: JobDriver['resume'] = async () => {
      shards = (await ledger.resume(jobId)).open.map(({ shard }) => shard.shard);
    };
    const jobs = { resume } as unknown as JobDriver;
    try {
      assert.equal(await resumeInFolder({ jobId, spec }, { ...context, ledger, jobs }), shards !== undefined);
      if (more) await ledger.addPlan(jobId, more, true);
    } finally {
      await ledger.close();
      releaseOutputFolder(spec.out);
    }
    return shards;
  };
  assert.deepEqual(await goOn(steps[1]), [0]);
  const scratch = join(path, '.halogrid');
  const logs = (await readdir(scratch)).filter((name) => name.startsWith('log-'));
  assert.deepEqual(logs.sort(), ['log-1', 'log-2']);
  return { path, goOn, warnings, log: (epoch: number) => join(scratch, `log-${epoch}`) };
}

test('a job that was left half-way goes on from its logs', async (t) => {
  const { goOn, warnings } = await stage(t);
  assert.deepEqual(await goOn(), [0, 1]);
  assert.deepEqual(warnings, []);
});

test('without the last log it goes on from the one before, as if the last was never begun', async (t) => {
  const { goOn, log } = await stage(t);
  await rm(log(2));
  assert.deepEqual(await goOn(), [0]);
});

test('without a log it does not go on, and says so', async (t) => {
  const { goOn, log, path, warnings } = await stage(t);
  for (const epoch of [1, 2]) await rm(log(epoch));
  assert.equal(await goOn(), undefined);
  assert.deepEqual(warnings, [
    `Job job in '${path}' was left half-way without a log: nothing that was computed of it counts`,
  ]);
});

test('with only noise in its logs it does not go on, and says so', async (t) => {
  const { goOn, log, warnings } = await stage(t);
  for (const epoch of [1, 2]) {
    const { size } = await stat(log(epoch));
    await writeFile(log(epoch), Buffer.alloc(size, 'noise'));
  }
  assert.equal(await goOn(), undefined);
  assert.deepEqual(
    warnings,
    [2, 1].map((epoch) => `The log of epoch ${epoch} ends in a group that is not whole, at byte 0: it does not count`),
  );
});

test('if a log that another log builds on is missing or changed, one sentence says so and what to do', async (t) => {
  const { goOn, log, path } = await stage(t);
  const whole = await readFile(log(1));
  const refused = (why: RegExp) => (error: Error) => {
    const { message } = error;
    assert.ok(error instanceof UsageError);
    const [begin, end] = [`Job job in '${path}' cannot go on (`, '); remove it to start again'];
    assert.ok(message.startsWith(begin) && message.endsWith(end), message);
    assert.match(message.slice(begin.length, -end.length), why);
    return true;
  };
  await rm(log(1));
  await assert.rejects(goOn(), refused(/^The results so far of job job are lost: The log '.*log-1' is missing$/));
  await writeFile(log(1), whole.subarray(0, -1));
  await assert.rejects(goOn(), refused(/: The log '.*log-1' has \d+ bytes, but \d+ were written$/));
  await writeFile(log(1), whole.with(whole.length - 1, whole.at(-1)! ^ 1));
  await assert.rejects(goOn(), refused(/: The log '.*log-1' has changed before byte \d+ since it was written$/));
  await writeFile(log(1), whole);
  assert.deepEqual(await goOn(), [0, 1]);
});

test('a log of an older version is refused, and the sentence says what to do', async (t) => {
  const { goOn, log, path } = await stage(t);
  await rm(log(2));
  const older = await new FolderLogs(join(path, '.halogrid'), jobId).begin(2);
  await older.append(otherFormat(), true);
  await older.close();
  const message =
    `Job job in '${path}' was left half-way by an older version (ledger format 5, this is ${logFormat}): ` +
    `finish it with that version, or remove '${path}' to start again`;
  await assert.rejects(goOn(), { name: 'UsageError', message });
});
