import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { within } from '@halogrid/testing';
import { connect, JobError, run } from '../apps/cli/src/library.ts';
import type { ServingCluster } from './cluster.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// Programs that use a cluster and this machine through the library. test/package.test.ts runs the programs of
// docs/library.md.

const samples = fileURLToPath(new URL('../samples', import.meta.url));
const scratch = scratchFolder();
let cluster: ServingCluster;
before(async () => {
  cluster = await sharedCluster();
});
after(() => cluster?.stop());

const ways = [
  ['HTTP', () => connect(cluster.http as `http://${string}`)],
  ['gRPC', () => connect(cluster.address)],
] as const;

for (const [way, dial] of ways) {
  test(`${way}: a job is submitted, followed and read`, async (t) => {
    const client = dial();
    t.after(() => client.close());
    const out = join(scratch, way);
    const named = [
      { name: 'codes', op: ['lbp:labels=uniform'] },
      { name: 'derivatives', op: ['ldp:order=2'] },
    ];
    const grid = { rows: 2, columns: 1 };
    const job = await client.submit({ sources: [join(samples, 'frames')], out, pipelines: { named }, grid });
    const states: string[] = [];
    for await (const _ of job) states.push(job.state);
    assert.equal(states.at(-1), 'complete');
    const result = await (await client.job(job.id.slice(-8))).result();
    assert.equal(result.digest, readJson(out, 'job.json').digest);
    const rows = await Array.fromAsync(result.rows({ pipeline: 'derivatives' }));
    assert.equal(rows.length, 2 * result.counts.frames);
    for (const { histogram, counted } of rows) {
      // Each of the four channels counts every pixel.
      assert.equal(
        histogram.reduce((sum, count) => sum + count, 0),
        4 * counted,
      );
    }
    await assert.rejects(result.rows().next(), {
      code: 'NOT_FOUND',
      message: /choose one of its pipelines, codes, derivatives$/,
    });
    const about = (await (await result.file('job.json')).json()) as { id: string };
    assert.deepEqual([about.id, (await result.files()).some(({ name }) => name === 'job.json')], [job.id, true]);
    const { jobs } = await client.jobs({ state: 'complete' });
    assert.ok(jobs.some(({ jobId }) => jobId === job.id));
    assert.ok((await client.nodes()).length > 0);
  });

  test(`${way}: a refused, failed or cancelled job gives its error code`, async (t) => {
    const client = dial();
    t.after(() => client.close());
    await assert.rejects(client.job('nobody'), { name: 'HalogridError', code: 'NOT_FOUND' });
    const frames = join(samples, 'frames');
    await assert.rejects(client.submit({ sources: [frames], op: ['lbp:radius=x'] }), { code: 'INVALID_ARGUMENT' });
    const folder = join(scratch, `broken ${way}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'a.png'), 'no picture');
    const out = join(scratch, `failed ${way}`);
    const failing = await client.submit({ sources: [folder], out, maxQuarantined: { inputs: 0 } });
    const failed = await within(
      'the failure',
      failing.result().catch((error) => error),
    );
    assert.ok(failed instanceof JobError);
    assert.equal(failed.code, 'JOB_FAILED');
    assert.equal((await failing.cancel()).state, 'JOB_STATE_FAILED');
  });
}

test('a job on this machine is cancelled, and its processes end', async () => {
  const sources = join(scratch, 'many');
  for (let i = 0; i < 40; i++) cpSync(join(samples, 'images/survey.tif'), join(sources, `${i}.tif`));
  const job = await run({ sources, device: 'cpu', out: join(scratch, 'cancelled') });
  const result = job.result();
  await job.cancel();
  await assert.rejects(result, { code: 'JOB_CANCELLED' });
  assert.equal(job.state, 'cancelled');
});

test('the error for a wrong call names the option', async () => {
  const sources = join(samples, 'frames');
  const table = [
    [{ sources, tile: 0 }, 'tile'],
    [{ sources, grid: { rows: 0, columns: 1 } }, 'grid'],
    [{ sources, maxQuarantined: 'x' }, 'maxQuarantined'],
    [{ sources, nonsense: 1 }, 'nonsense'],
    [{ sources, gpu: 'all', nodes: 2 } as const, undefined],
  ] as const;
  for (const [options, field] of table)
    await assert.rejects(run(options), { code: 'INVALID_ARGUMENT', ...(field && { field }) });
  const reason = new Error('not now');
  await assert.rejects(run({ sources, signal: AbortSignal.abort(reason) }), reason);
});
