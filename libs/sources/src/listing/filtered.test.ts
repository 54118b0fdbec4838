import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { FilterGlobs } from '../globs/path-filter.ts';
import type { PassedOver } from '../globs/selection.ts';
import { startTestS3 } from '../testing/servers.ts';
import { setEnvironment, temporaryFolder } from '../testing/temporary-files.ts';
import { checkHasSource, listAllSources, mayHaveVideo } from './sources.ts';
import { toUri } from './to-uri.ts';

async function folderOf(t: TestContext, ...files: string[]): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), file);
  }
  return folder;
}

interface Listed {
  /** Inputs, relative to the folder. */
  inputs: string[];
  /** What the filter leaves out; folders end with '/'. */
  leftOut: string[];
}

/** `paths` and what is returned are relative to the folder. */
async function listed(folder: string, globs: Partial<FilterGlobs>, ...paths: string[]): Promise<Listed> {
  const filter = { include: [], exclude: [], ...globs };
  const inFolder = (path: string): string => (path.startsWith('/') ? relative(folder, path) : path);
  const inputs: string[] = [];
  const leftOut: string[] = [];
  const uris = paths.map((path) => toUri(path, folder));
  const onPassedOver = ({ path, isFolder, isFiltered }: PassedOver) => {
    if (isFiltered) leftOut.push(inFolder(path) + (isFolder ? '/' : ''));
  };
  for await (const sources of listAllSources(uris, { filter, onPassedOver })) {
    for (const { uri } of sources) inputs.push(uri.startsWith('file:') ? inFolder(fileURLToPath(uri)) : uri);
  }
  return { inputs, leftOut: leftOut.sort() };
}

test('a filter leaves files and folders out of a folder, and says which', async (t) => {
  const folder = await folderOf(
    t,
    'in/1.jpg',
    'in/2.png',
    'in/a.txt',
    'in/old/3.jpg',
    'in/cam/4.jpg',
    'in/cam/old/5.jpg',
  );
  assert.deepEqual(await listed(folder, { exclude: ['old', '*.png'] }, 'in'), {
    inputs: ['in/1.jpg', 'in/cam/4.jpg'],
    leftOut: ['in/2.png', 'in/cam/old/', 'in/old/'],
  });
  assert.deepEqual(await listed(folder, { include: ['cam/**', '2.png'], exclude: ['cam/old'] }, 'in'), {
    inputs: ['in/2.png', 'in/cam/4.jpg'],
    leftOut: ['in/1.jpg', 'in/cam/old/', 'in/old/3.jpg'],
  });
  // Files that are no inputs anyway are not left out by the filter.
  assert.deepEqual((await listed(folder, { include: ['*.jpg'] }, 'in')).leftOut, ['in/2.png']);
});

test('a filter holds for globs, files that are named, and entries of manifests', async (t) => {
  const folder = await folderOf(t, 'in/1.jpg', 'in/2.png', 'in/cam/4.jpg', 'in/cam/4.png', 'list.txt');
  await writeFile(join(folder, 'list.txt'), 'in/1.jpg\nin/cam/4.jpg\n./in/cam/4.png\nhttp://localhost:1/cam/5.jpg\n');
  assert.deepEqual(await listed(folder, { exclude: ['*.png'] }, 'in/**/*'), {
    inputs: ['in/1.jpg', 'in/cam/4.jpg'],
    leftOut: ['in/2.png', 'in/cam/4.png'],
  });
  assert.deepEqual(await listed(folder, { exclude: ['*.png'] }, 'in/2.png', 'in/1.jpg'), {
    inputs: ['in/1.jpg'],
    leftOut: ['2.png'],
  });
  assert.deepEqual(await listed(folder, { exclude: ['cam'] }, 'list.txt'), {
    inputs: ['in/1.jpg'],
    leftOut: ['./in/cam/4.png', 'http://localhost:1/cam/5.jpg', 'in/cam/4.jpg'],
  });
  assert.deepEqual((await listed(folder, { include: ['/in/cam'] }, 'list.txt')).inputs, [
    ...['in/cam/4.jpg', 'in/cam/4.png'],
  ]);
});

test('an entry of a manifest that is wrong in itself is not left out', async (t) => {
  const folder = await folderOf(t, 'a.jpg', 'list.jsonl');
  await writeFile(join(folder, 'list.jsonl'), '{"path": "a.jpg"}\n{"size": 1}\n');
  const uris = [toUri('list.jsonl', folder)];
  const filter = { include: ['*.png', 'a.jpg'], exclude: [] };
  const all = (await Array.fromAsync(listAllSources(uris, { filter }))).flat();
  assert.deepEqual(
    all.map(({ error }) => error === undefined),
    [true, false],
  );
});

test('what a filter leaves out of one source may come by another, once', async (t) => {
  const folder = await folderOf(t, 'in/1.jpg', 'in/old/2.jpg', 'in/old/a.txt', 'elsewhere/3.jpg');
  const exclude = ['old'];
  // A path is taken from the folder on that the job names.
  assert.deepEqual((await listed(folder, { exclude }, 'in', 'in/old', 'in/old/2.jpg')).inputs, [
    ...['in/1.jpg', 'in/old/2.jpg'],
  ]);
  assert.deepEqual((await listed(folder, { exclude: ['1.jpg'] }, 'in/1.jpg', 'in')).inputs, ['in/old/2.jpg']);
  // A link leads to what is left out at its own place.
  await symlink('old', join(folder, 'in/link'));
  assert.deepEqual(await listed(folder, { exclude }, 'in'), {
    inputs: ['in/1.jpg', 'in/link/2.jpg'],
    leftOut: ['in/old/'],
  });
  assert.deepEqual((await listed(folder, { exclude: ['link'] }, 'in')).inputs, ['in/1.jpg', 'in/old/2.jpg']);
});

test('a filter may leave out all of a source, but not all of a job', async (t) => {
  const folder = await folderOf(t, 'in/1.jpg', 'in/2.jpg', 'none/a.txt', 'film.mp4');
  const filter = { include: ['1.*'], exclude: [] };
  const has = (path: string): Promise<boolean> => checkHasSource(toUri(path, folder), { filter });
  assert.equal(await has('in'), true);
  assert.equal(await has('film.mp4'), false);
  assert.equal(await has('*.mp4'), false);
  await assert.rejects(has('none'), /holds no images/);
  await assert.rejects(listed(folder, filter, 'film.mp4'), { message: 'include and exclude leave out every input' });
  const uris = ['in', 'film.mp4'].map((path) => toUri(path, folder));
  assert.equal(await mayHaveVideo(uris, 100), true);
  assert.equal(await mayHaveVideo(uris, 100, { filter }), false);
});

test('a filter holds for prefixes of keys', async (t) => {
  const keys = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret+/' };
  const server = await startTestS3({ ...keys, region: 'eu-test-1', bucket: 'pictures', pageKeys: 3 });
  t.after(() => server.close());
  for (const key of ['a/1.jpg', 'a/2.png', 'a/old/3.jpg', 'a/x.txt']) server.objects.set(key, Buffer.from(key));
  setEnvironment(t, server.environment);
  const exclude = ['*.png', 'old'];
  assert.deepEqual(await listed('/', { exclude }, 's3://pictures/a'), {
    inputs: ['s3://pictures/a/1.jpg'],
    leftOut: ['s3://pictures/a/2.png', 's3://pictures/a/old/'],
  });
  assert.deepEqual((await listed('/', { exclude }, 's3://pictures/a/**/*')).inputs, [
    ...['s3://pictures/a/1.jpg', 's3://pictures/a/x.txt'],
  ]);
});
