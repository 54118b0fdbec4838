import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createPipeline, specifiedOperations } from '@halogrid/kernels';
import {
  type ErrorAnswer,
  type FolderAnswer,
  JobSpec,
  type JobStatus,
  type PlanAnswer,
  type SubmitResponse,
} from '@halogrid/proto';
import { restrictSources, unrestricted } from '@halogrid/sources';
import { refusalOf, setStage, submit, testConfig, writeImages } from '../../testing/coordinator-stage.ts';
import { fetch } from '../testing/described-answers.ts';

/** A coordinator that is kept to a data root with two images. */
async function setRoot(t: TestContext) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'halogrid-root-')));
  t.after(() => restrictSources(unrestricted));
  const images = join(root, 'images');
  await mkdir(images);
  await writeImages(images, 2);
  const { coordinator, jobs } = await setStage(t, testConfig({ data: { dataRoot: [root] } }));
  // After the end of the coordinator, whose jobs write there until then.
  t.after(() => rm(root, { recursive: true, force: true }));
  const ask = async <T>(path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const type = { 'content-type': 'application/json', ...headers };
    const response = await fetch(`http://127.0.0.1:${coordinator.httpPort}/api/v1/${path}`, { ...init, headers: type });
    return { status: response.status, body: (await response.json()) as T & Partial<ErrorAnswer> };
  };
  return { root, images, jobs, ask };
}

test('folders of the data roots are listed, and nothing is said about others', async (t) => {
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

test('a specification needs only its sources to be planned and submitted: all else has a default', async (t) => {
  const { root, images, ask } = await setRoot(t);
  const plan = await ask<PlanAnswer>('plan', { sources: [images] });
  assert.deepEqual([plan.status, plan.body.sources, plan.body.pixels, plan.body.isPart], [200, 2, 2 * 7 * 5, false]);
  const { status, body } = await ask<SubmitResponse>('jobs', { sources: [images] });
  assert.equal(status, 200, body.error);
  const { spec, jobId, asked } = body.job!;
  assert.deepEqual(spec!.sources, [pathToFileURL(images).href]);
  assert.equal(spec!.out, pathToFileURL(join(root, 'halogrid-out', jobId)).href);
  assert.deepEqual([spec!.grid, spec!.mapFormat, spec!.op], [{ rows: 1, columns: 1 }, 'none', []]);
  assert.deepEqual(asked, [{ name: '', operations: ['lbp'] }]);
  assert.equal((await ask(`jobs/${jobId}/cancel`, {})).status, 200);
});

test('given values are taken: texts of operations, an absolute output, a grid, and a limit of quarantined inputs', async (t) => {
  const { root, images, ask } = await setRoot(t);
  const out = join(root, 'out');
  const given = { sources: [images], out, op: ['lbp:labels=uniform'], grid: { rows: 2, columns: 3 } };
  const { body } = await ask<{ job: { spec: object; jobId: string } }>('jobs', {
    ...given,
    maxQuarantined: { inputs: 3 },
  });
  const { operations } = createPipeline([{ kernel: 'lbp', parameters: { labels: 'uniform' }, border: '' }]);
  const { pipeline, grid, maxQuarantined, out: its, op } = body.job.spec as JobSpec;
  assert.deepEqual(pipeline, { operations: specifiedOperations({ operations }) });
  assert.deepEqual([grid, maxQuarantined, its, op], [given.grid, { inputs: 3 }, pathToFileURL(out).href, []]);
  const named = [
    { name: 'codes', op: ['lbp'] },
    { name: 'derivatives', pipeline: { operations: [{ kernel: 'ldp' }] } },
  ];
  const several = await ask<SubmitResponse>('jobs', { sources: [images], pipelines: { named } });
  assert.deepEqual(several.body.job!.asked, [
    { name: 'codes', operations: ['lbp'] },
    { name: 'derivatives', operations: ['ldp'] },
  ]);
});

test('a wrong specification is refused with the field that is wrong, and starts nothing', async (t) => {
  const { images, ask } = await setRoot(t);
  const sources = [images];
  const wrong: [given: unknown, sentence: RegExp, field: string | undefined][] = [
    [null, /^Expected an object for the body but received 'null'$/, undefined],
    [[], /^Expected an object for the body but received 'a list'$/, undefined],
    [{}, /^Expected at least one source for sources but received none$/, 'sources'],
    [{ sources: images }, /^Expected a list for sources but received 'a string'$/, 'sources'],
    [{ sources: [images, 1] }, /^Expected a text for sources\[1\] but received '1'$/, 'sources[1]'],
    [{ sources: [images, '/etc/passwd'] }, /not allowed here/, 'sources[1]'],
    [{ sources: ['a.png'] }, /^Expected an absolute path, or an absolute URI .* 'a.png'$/, 'sources[0]'],
    [{ sources, out: '/tmp/elsewhere' }, /not allowed here/, 'out'],
    [
      { sources, out: 'out' },
      /^Expected an absolute path, or a URI of file: or s3: for out but received 'out'$/,
      'out',
    ],
    [{ sources, op: ['lbp', 'rm'] }, /^Expected one of lbp, ldp, conv, glcm for op\[1\] but received 'rm'$/, 'op[1]'],
    [{ sources, op: ['lbp:labels=x'] }, /^Expected .* for lbp:labels but received 'x' \(op\[0\]\)$/, 'op[0]'],
    [{ sources, op: ['lbp'], pipeline: { operations: [] } }, /^Expected op or pipeline but received both$/, 'op'],
    [{ sources, pipeline: {} }, /^Expected 1 to .* \(pipeline\.operations\)$/, 'pipeline.operations'],
    [
      { sources, grid: { rows: -1 } },
      /^Expected a whole number from 0 .* for grid\.rows but received '-1'$/,
      'grid.rows',
    ],
    [
      { sources, grid: { row: 1 } },
      /^Expected one of rows, columns for a field of grid but received 'row' \(did you mean rows\?\)$/,
      'grid.row',
    ],
    [{ sources, mapFormat: '<b>' }, /^Expected one of none, tiff, .* for mapFormat but received '<b>'$/, 'mapFormat'],
    [{ sources, tilePx: 1e6 }, /^Expected 0 to 32768 for tilePx but received '1000000'$/, 'tilePx'],
    [{ sources, batchFrames: '4' }, /^Expected a whole number .* for batchFrames but received '4'$/, 'batchFrames'],
    [
      { sources, maxQuarantined: { inputs: 1, percent: 2 } },
      /^Expected one of inputs, percent for maxQuarantined/,
      'maxQuarantined',
    ],
    [{ sources, video: { hwaccel: 'x' } }, /^Expected one of .* for video\.hwaccel but received 'x'$/, 'video.hwaccel'],
    [{ sources, sudo: true }, /^Expected one of sources, .* for a field of the body but received 'sudo'$/, 'sudo'],
  ];
  for (const [given, sentence, field] of wrong) {
    for (const path of ['jobs', 'plan']) {
      const { status, body } = await ask(path, given);
      assert.match(body.error ?? '', sentence);
      assert.deepEqual([body.code, body.field], [status === 403 ? 'PERMISSION_DENIED' : 'INVALID_ARGUMENT', field]);
      assert.ok(status === 400 || status === 403, `${status} for ${sentence}`);
    }
  }
  const form = await ask('jobs', { sources }, { 'content-type': 'application/x-www-form-urlencoded' });
  assert.deepEqual([form.status, form.body.code], [415, 'INVALID_ARGUMENT']);
  const taken = await ask('jobs', { sources, out: join(images, 'image-0.pgm') });
  assert.deepEqual([taken.status, taken.body.code, taken.body.field], [409, 'FAILED_PRECONDITION', 'out']);
  assert.equal((await ask('jobs', { sources: ['x'.repeat(2 ** 20)] })).status, 400);
  const elsewhere = { origin: 'http://evil.example' };
  assert.equal((await ask('jobs', { sources }, elsewhere)).status, 403);
  assert.equal((await ask('plan', { sources }, elsewhere)).status, 403);
  assert.deepEqual((await ask<{ jobs: JobStatus[] }>('jobs')).body.jobs, []);
});

test('gRPC takes the same defaults, paths and texts, and names the field that is wrong', async (t) => {
  const { root, images, jobs } = await setRoot(t);
  const { spec, jobId } = await submit(jobs, JobSpec.fromPartial({ sources: [images], op: ['ldp:order=3'] }));
  assert.equal(spec!.out, pathToFileURL(join(root, 'halogrid-out', jobId)).href);
  assert.deepEqual([spec!.mapFormat, spec!.grid, spec!.op], ['none', { rows: 1, columns: 1 }, []]);
  assert.equal(spec!.pipeline!.operations[0]!.kernel, 'ldp');
  const refused = async (more: Partial<JobSpec>) =>
    (await refusalOf(submit(jobs, JobSpec.fromPartial({ sources: [images], ...more })))).details;
  assert.match(await refused({ op: ['x'] }), / for op\[0\] but received 'x'$/);
  assert.match(await refused({ tilePx: 1e6 }), / for tile_px but received '1000000'$/);
  assert.match(await refused({ mapFormat: 'bmp' }), / for map_format but received 'bmp'$/);
});
