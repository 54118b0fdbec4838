import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { findOutputs } from './find-outputs.ts';
import { isProcessAlive } from './is-process-alive.ts';
import { isOwnPath, removedName } from './output-entries.ts';
import { measureOutput } from './own-files.ts';
import { removeOutput } from './remove-output.ts';
import { readOutput } from './stored-output.ts';

const own = [
  ...['histogram.json', 'histogram.svg', 'features.parquet', 'errors.jsonl', 'sources.jsonl', 'sources.parquet'],
  ...['features.parquet/000000000000.parquet', 'preview/a.png', 'preview/a.source.jpg', 'maps/a.tif', 'maps/a.png'],
  ...['maps/a.zarr/zarr.json', 'maps/a.zarr/0/c/0/0', 'maps/a.dzi', 'maps/a_files/10/0_0.png', 'maps/index.html'],
  ...['maps/openseadragon.js', 'pipelines/plain/job.json', 'pipelines/plain/maps/a.tif', '.halogrid/log-1', 'job.json'],
  ...['.halogrid/parts/p-1/features.parquet', '.claim.01234567-0123-0123-0123-0123456789ab'],
];
const foreign = [
  ...['notes.txt', 'maps/notes.txt', 'preview/cam.html', 'features.parquet/copy.csv', 'job.json.bak', 'photos/a.jpg'],
  ...[
    'pipelines/plain/notes.txt',
    'pipelines/plain/.halogrid/x',
    'pipelines/plain/pipelines/x/job.json',
    '.git/config',
  ],
];

test('files that jobs write are told from all others', () => {
  for (const path of own) assert.ok(isOwnPath(path), path);
  for (const path of foreign) assert.ok(!isOwnPath(path), path);
});

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-outputs-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function put(folder: string, path: string, text = 'abc'): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const jobText = (facts: object = {}): string =>
  JSON.stringify({ id: 'j1', state: 'complete', finished: '2026-03-01T00:00:00.000Z', specification: {}, ...facts });

const filesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .sort()
    : [];

/** Leaves out a file if the list has files in a folder of the same name. */
const together = (paths: readonly string[]): string[] =>
  paths.filter((path) => !paths.some((other) => other.startsWith(`${path}/`)));

test('a removal takes what the job wrote, whatever is there, and leaves everything else as it was', async (t) => {
  const folder = makeFolder(t);
  await fc.assert(
    fc.asyncProperty(fc.subarray(own), fc.subarray(foreign), async (ours, theirs) => {
      const path = join(folder, 'out');
      const all = together([...ours.filter((name) => name !== 'job.json'), ...theirs]);
      for (const name of all) put(path, name);
      put(path, 'job.json', jobText());
      const output = (await readOutput(path))!;
      assert.equal(output.state, 'complete');
      const size = await measureOutput(path);
      const { stays, ...removed } = await removeOutput(output);
      const left = all.filter((name) => foreign.includes(name)).sort();
      assert.deepEqual(filesIn(path), left);
      assert.equal(existsSync(path), left.length > 0, 'an empty folder goes');
      assert.deepEqual(removed, size);
      for (const name of left)
        assert.ok(
          stays.some((stayed) => `${name}/`.startsWith(`${stayed}/`)),
          name,
        );
      rmSync(path, { recursive: true, force: true });
    }),
    { numRuns: 50 },
  );
});

test('an interrupted removal is told, and goes on', async (t) => {
  const path = join(makeFolder(t), 'out');
  put(path, removedName, jobText());
  put(path, 'features.parquet');
  const output = (await readOutput(path))!;
  assert.deepEqual([output.state, output.jobId, output.isUnfinished], ['removed', 'j1', false]);
  assert.deepEqual((await removeOutput(output)).stays, []);
  assert.ok(!existsSync(path));
});

test('a folder that another job took meanwhile stays as it is', async (t) => {
  const path = join(makeFolder(t), 'out');
  put(path, 'job.json', jobText());
  put(path, 'maps/a.tif');
  const output = (await readOutput(path))!;
  put(path, 'job.json', jobText({ id: 'j2', state: 'running' }));
  await assert.rejects(removeOutput(output), { message: `The folder '${path}' was taken by another job just now` });
  assert.deepEqual(filesIn(path), ['job.json', 'maps/a.tif']);
});

test('outputs are found in folders and in outputs, and unfinished jobs are told', async (t) => {
  const folder = makeFolder(t);
  put(folder, 'a/job.json', jobText({ id: 'a', owner: 'alice' }));
  put(folder, 'a/maps/x.zarr/job.json', jobText({ id: 'not a job' }));
  put(folder, 'a/again/job.json', jobText({ id: 'again', state: 'failed', canGoOn: true }));
  put(folder, 'b/c/job.json', jobText({ id: 'c', state: 'running', coordinator: { host: 'elsewhere', pid: 7 } }));
  put(folder, 'foreign/job.json', '{"id": 1}');
  put(folder, 'index/manifest.json');
  const found = await Array.fromAsync(findOutputs(folder));
  const outputs = found.flatMap((one) => (one.kind === 'output' ? [one.output] : []));
  assert.deepEqual(
    outputs.map(({ jobId, owner, isUnfinished }) => [jobId, owner, isUnfinished]),
    [
      ['a', 'alice', false],
      ['again', undefined, true],
      ['c', undefined, true],
    ],
  );
  assert.equal(outputs[0]!.changedMs, Date.parse('2026-03-01T00:00:00.000Z'));
  assert.deepEqual(
    found.filter(({ kind }) => kind !== 'output'),
    [{ kind: 'manifest', path: join(folder, 'index') }],
  );
});

test('a process is alive only if another one of this host has its number', async () => {
  assert.ok(await isProcessAlive({ host: hostname(), pid: process.ppid }));
  assert.ok(!(await isProcessAlive({ host: hostname(), pid: process.pid })));
  assert.ok(!(await isProcessAlive({ host: 'elsewhere', pid: process.ppid })));
  assert.ok(!(await isProcessAlive(undefined)));
});
