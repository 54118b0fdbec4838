import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { FolderAnswer, JobForm, JobStatus, PlanAnswer } from '@halogrid/proto';
import { restrictSources, unrestricted } from '@halogrid/sources';
import { setStage, testConfig, writeImages } from '../testing/coordinator-stage.ts';

const form = (more: Partial<JobForm>): JobForm => ({
  ...{ sources: [], operations: ['lbp:labels=uniform'], border: '', map: 'none', grid: '1x1', out: '' },
  ...more,
});

/** A coordinator that is kept to a data root with two images. */
async function setRoot(t: TestContext) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'halogrid-root-')));
  t.after(() => rm(root, { recursive: true, force: true }));
  t.after(() => restrictSources(unrestricted));
  const images = join(root, 'images');
  await mkdir(images);
  await writeImages(images, 2);
  const { coordinator } = await setStage(t, testConfig({ data: { dataRoot: [root] } }));
  const ask = async <T>(path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const type = { 'content-type': 'application/json', ...headers };
    const response = await fetch(`http://127.0.0.1:${coordinator.httpPort}/api/v1/${path}`, { ...init, headers: type });
    return { status: response.status, body: (await response.json()) as T & { error?: string } };
  };
  return { root, images, ask };
}

test('folders of the data roots are looked through, and nothing is told of others', async (t) => {
  const { root, images, ask } = await setRoot(t);
  await writeFile(join(root, '.hidden'), '');
  await symlink('/etc', join(root, 'elsewhere'));
  const top = (await ask<FolderAnswer>('folder')).body;
  assert.deepEqual([top.path, top.parent], [root, '']);
  assert.deepEqual(
    top.entries.map(({ name, isFolder }) => [name, isFolder]),
    [
      ['images', true],
      ['elsewhere', false],
    ],
  );
  const inside = (await ask<FolderAnswer>(`folder?path=${encodeURIComponent(images)}`)).body;
  assert.deepEqual([inside.parent, inside.entries.length], [root, 2]);
  for (const path of ['/etc', `${root}/../`, join(root, 'elsewhere'), '/does/not/exist']) {
    const { status, body } = await ask(`folder?path=${encodeURIComponent(path)}`);
    assert.deepEqual([status, body.error], [403, 'The path lies outside of the data roots (--data-root)'], path);
  }
  assert.equal((await ask('folder?path=images')).status, 400);
  assert.equal((await ask(`folder?path=${encodeURIComponent(join(root, 'missing'))}`)).status, 404);
});

test('a form is planned, and submitted', async (t) => {
  const { root, images, ask } = await setRoot(t);
  const plan = await ask<PlanAnswer>('plan', form({ sources: [images] }));
  assert.deepEqual([plan.status, plan.body.sources, plan.body.pixels, plan.body.isPart], [200, 2, 2 * 7 * 5, false]);
  const { status, body } = await ask<{ job: JobStatus }>('jobs', form({ sources: [images], grid: '2x3' }));
  assert.equal(status, 200, body.error);
  const { spec, jobId } = body.job;
  assert.deepEqual(spec!.sources, [pathToFileURL(images).href]);
  assert.equal(spec!.out, pathToFileURL(join(root, 'halogrid-out', jobId)).href);
  assert.deepEqual(spec!.grid, { rows: 2, columns: 3 });
  assert.equal((await ask(`jobs/${jobId}/cancel`, {})).status, 200);
});

test('a form that is none is refused in one sentence, and starts nothing', async (t) => {
  const { images, ask } = await setRoot(t);
  const wrong: [given: unknown, sentence: RegExp][] = [
    [null, /^Expected a text for border/],
    [[], /^Expected a text for border/],
    [form({ sources: [] }), /^Expected a list of texts/],
    [form({ sources: [1] as unknown as string[] }), /^Expected a list of texts/],
    [form({ sources: ['/etc/passwd'] }), /not allowed here/],
    [form({ sources: [images], out: '/tmp/elsewhere' }), /not allowed here/],
    [form({ sources: [images], operations: ['rm'] }), /^Expected one of lbp, ldp, conv/],
    [form({ sources: [images], grid: '0x1' }), /^Expected RxC/],
    [form({ sources: [images], map: '<b>' }), /^Expected one of none, tiff/],
    [{ ...form({ sources: [images] }), sudo: true }, /^Expected one of sources, /],
  ];
  for (const [given, sentence] of wrong) {
    const { status, body } = await ask('jobs', given);
    assert.match(body.error ?? '', sentence);
    assert.ok(status === 400 || status === 403, `${status} for ${sentence}`);
  }
  assert.equal((await ask('jobs', form({ sources: ['x'.repeat(2 ** 20)] }))).status, 400);
  const elsewhere = { origin: 'http://evil.example' };
  assert.equal((await ask('jobs', form({ sources: [images] }), elsewhere)).status, 403);
  assert.equal((await ask('plan', form({ sources: [images] }), elsewhere)).status, 403);
  assert.deepEqual((await ask<{ jobs: JobStatus[] }>('jobs')).body.jobs, []);
});
