import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Refusal } from '@halogrid/jobs/refusal';
import type { JobRecord } from '@halogrid/ledger';
import { JobSpec } from '@halogrid/proto';
import { createLog } from '@halogrid/service/log';
import { setEnvironment } from '@halogrid/sources/testing-files';
import { startTestS3 } from '@halogrid/sources/testing-servers';
import { eventually } from '@halogrid/testing';
import { removeJob } from './remove-job.ts';
import { Retention } from './retention.ts';

const dayMs = 86_400_000;
const nowMs = Date.parse('2026-04-01T00:00:00Z');

/** Jobs with folders, in a ledger that only remembers. */
function stage(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-remove-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const records = new Map<string, JobRecord>();
  const add = (jobId: string, facts: Partial<JobRecord> = {}, out = join(folder, jobId)): string => {
    const spec = JobSpec.fromPartial({ out: pathToFileURL(out).href });
    const record = { jobId, spec, state: 'complete', submittedMs: 0, finishedMs: nowMs, ...facts } as JobRecord;
    records.set(jobId, record);
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, 'job.json'), JSON.stringify({ id: jobId, state: record.state, specification: {} }));
    writeFileSync(join(out, 'histogram.json'), '{}');
    return out;
  };
  const ledger = {
    getJob: async (jobId: string) => records.get(jobId),
    listJobs: async () => [...records.values()],
    forget: async (ids: readonly string[]) => {
      for (const id of ids) records.delete(id);
    },
  };
  const remove = (jobId: string, dryRun = false) => removeJob({ ledger, indexes: new Map() }, jobId, { dryRun });
  return { folder, add, records, ledger, remove };
}

const refused = (sentence: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Refusal);
  assert.match(error.message, sentence);
  return true;
};

test('an ended job goes with its files, after a dry run that only looks', async (t) => {
  const { add, records, remove } = stage(t);
  const out = add('done');
  const { files, bytes, stays } = await remove('done', true);
  assert.ok(existsSync(out) && records.has('done'));
  assert.deepEqual(await remove('done'), {
    jobId: 'done',
    out: pathToFileURL(out).href,
    files,
    bytes,
    stays,
    indexes: [],
  });
  assert.deepEqual([files, existsSync(out), records.has('done')], [2, false, false]);
});

test('a job that has not ended, or can go on, stays', async (t) => {
  const { add, remove } = stage(t);
  const running = add('running', { state: 'running', finishedMs: 0 });
  const failed = add('failed', { state: 'failed', canGoOn: true });
  await assert.rejects(remove('running'), refused(/^Job running is running: cancel it, or wait for its end$/));
  await assert.rejects(remove('failed'), refused(/can go on: submit it again, or cancel it to give it up$/));
  assert.ok(existsSync(running) && existsSync(failed));
});

test('results of a later job in the same folder stay, and so does a folder that cannot be read', async (t) => {
  const { folder, add, records, remove } = stage(t);
  const out = add('first');
  add('second', {}, out);
  assert.equal((await remove('first')).files, 0);
  assert.ok(existsSync(join(out, 'histogram.json')) && !records.has('first'));
  add('odd');
  rmSync(join(folder, 'odd', 'job.json'));
  mkdirSync(join(folder, 'odd', 'job.json'));
  await assert.rejects(remove('odd'), refused(/^The results of job odd in '.*' cannot be removed: it is a folder/));
  assert.ok(records.has('odd'));
});

test('retention removes what ended long enough ago, says so, and looks again every hour', async (t) => {
  const { folder, add, ledger, remove, records } = stage(t);
  const kept = add('young', { finishedMs: nowMs - 29 * dayMs });
  const old = add('old', { finishedMs: nowMs - 30 * dayMs });
  const away = add('away', { finishedMs: 1 }, join(folder, 'mount', 'away'));
  rmSync(join(folder, 'mount'), { recursive: true });
  const lines: { msg: string; jobId: string; level: string | number }[] = [];
  const log = createLog('test', 'info', { lines: { write: (line) => lines.push(JSON.parse(line)) } });
  let wallMs = nowMs;
  const looks: (() => void)[] = [];
  const clock = { wallMs: () => wallMs, monotonicMs: () => 0 };
  const every = (_: number, task: () => void) => {
    looks.push(task);
    return () => {};
  };
  const retention = new Retention({ ledger, retentionMs: 30 * dayMs, clock, log, remove, every });
  await eventually('the first look', () => lines.length === 2);
  assert.deepEqual(lines.map(({ jobId }) => jobId).sort(), ['away', 'old']);
  assert.match(lines.find(({ jobId }) => jobId === 'away')!.msg, /neither its folder nor the one above is there$/);
  assert.deepEqual([existsSync(old), existsSync(kept), existsSync(away)], [false, true, false]);
  assert.ok(records.has('away'), 'a job whose disk is away is looked at again');
  wallMs += dayMs;
  looks[0]!();
  await eventually('the second look', () => lines.length === 3);
  await retention.close();
  assert.ok(!existsSync(kept));
});

test('results in a bucket go as in a folder, and the job stays if the bucket cannot be reached', async (t) => {
  const options = { accessKeyId: 'AK', secretAccessKey: 'SK', region: 'us-east-1', bucket: 'results' };
  let refuses = false;
  const store = await startTestS3({ ...options, fault: () => (refuses ? 'refuse' : undefined) });
  t.after(() => store.close());
  setEnvironment(t, store.environment);
  const { add, records, remove } = stage(t);
  for (const id of ['done', 'replaced']) {
    add(id);
    records.get(id)!.spec.out = 's3://results/job';
  }
  store.objects.set('job/job.json', Buffer.from('{"id":"done","state":"complete","specification":{}}'));
  store.objects.set('job/features.parquet', Buffer.from('features'));
  assert.equal((await remove('replaced')).files, 0, 'a later job has replaced them');
  refuses = true;
  await assert.rejects(
    remove('done'),
    refused(/in 's3:\/\/results\/job' cannot be removed: Access to .* is denied: 403/),
  );
  refuses = false;
  assert.equal((await remove('done', true)).files, 2);
  assert.deepEqual([[...records.keys()], store.objects.size], [['done'], 2]);
  assert.equal((await remove('done')).files, 2);
  assert.deepEqual([...records.keys()], []);
  assert.ok([...store.objects.keys()].every((key) => key.startsWith('job/.halogrid/claims/')));
});
