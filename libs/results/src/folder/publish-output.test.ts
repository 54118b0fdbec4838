import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isThorough } from '@halogrid/testing';
import { movesPath, newFilesPath, publishOutput, readyOutput, takeOverOutput } from './publish-output.ts';

const earlier = {
  'job.json': 'running',
  'histogram.json': 'old',
  'features.parquet/000000000000.parquet': 'old',
  'errors.jsonl': 'old',
  'maps/a.tif': 'map of a',
  'maps/b.tif': 'map of b',
  'maps/c.tif': 'map of c',
  'preview/a.png': 'picture of a',
  'pipelines/edges/job.json': 'old',
  'pipelines/edges/errors.jsonl': 'old',
  'pipelines/edges/maps/a.tif': 'edges of a',
  'pipelines/edges/preview/a.png': 'picture of edges of a',
  '.halogrid/earlier.json': 'complete',
};
const output = {
  'job.json': 'complete',
  'histogram.json': 'new',
  'features.parquet': 'new',
  'sources.jsonl': 'new',
  'maps/d.tif': 'map of d',
  'pipelines/edges/job.json': 'new',
};
/** Names may be exchanged: a becomes b, and b becomes a. */
const moves = [
  { remove: 'errors.jsonl' },
  { keep: 'maps/a.tif', as: 'maps/b.tif' },
  { keep: 'maps/b.tif', as: 'maps/a.tif' },
  { keep: 'pipelines/edges/maps/a.tif', as: 'pipelines/edges/maps/b.tif' },
];
const expected = {
  'job.json': 'complete',
  'histogram.json': 'new',
  'features.parquet': 'new',
  'sources.jsonl': 'new',
  'maps/a.tif': 'map of b',
  'maps/b.tif': 'map of a',
  'maps/d.tif': 'map of d',
  'pipelines/edges/job.json': 'new',
  'pipelines/edges/maps/b.tif': 'edges of a',
};

test('if a process ends at any step, job.json says whether the output is complete, and the next process does the rest', async (t) => {
  const { rename } = fs;
  t.after(() => setRename(rename));
  let interrupted = 0;
  for (let steps = 0; ; steps++) {
    const folder = await stage(t);
    let left = steps;
    setRename(async (from, to) => {
      if (left-- === 0) throw new Error('The process ends');
      await rename(from, to);
    });
    const isInterrupted = await publishOutput(folder, 1).then(
      () => false,
      ({ message }) => message === 'The process ends',
    );
    setRename(rename);
    if (isInterrupted) {
      interrupted++;
      assert.equal(await fs.readFile(join(folder, 'job.json'), 'utf8'), 'running');
      assert.equal(await readyOutput(folder), 1);
      assert.equal(await takeOverOutput(folder, 2), true);
      await publishOutput(folder, 2);
    }
    assert.equal(await readyOutput(folder), undefined);
    assert.deepEqual(await read(folder), expected);
    if (!isInterrupted) break;
  }
  assert.equal(interrupted, 15);
});

test('a folder takes the place of a file, and of another folder', async (t) => {
  const parts = { 'job.json': 'complete', 'features.parquet/1.parquet': 'new' };
  for (const name of ['features.parquet', 'features.parquet/0.parquet']) {
    const folder = await fs.mkdtemp(join(tmpdir(), 'halogrid-publish-'));
    t.after(() => fs.rm(folder, { recursive: true }));
    await write(folder, { 'job.json': 'running', [name]: 'old' });
    await fs.mkdir(join(folder, '.halogrid'));
    assert.equal(await takeOverOutput(folder, 1), false);
    await write(newFilesPath(folder, 1), parts);
    await publishOutput(folder, 1);
    assert.deepEqual(await read(folder), parts);
  }
});

test('a leader that is paused at any move, and goes on at any move of its successor, moves nothing more', async (t) => {
  const { rename } = fs;
  t.after(() => setRename(rename));
  for (let before = 0; before < 15; before++) {
    for (let after = 0; after < 16; after += isThorough ? 1 : 5) {
      const folder = await stage(t);
      const [paused, wakes] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let first: Promise<unknown> = Promise.resolve();
      let [its, others] = [0, 0];
      setRename(async (from, to) => {
        if ([from, to].some((path) => String(path).startsWith(newFilesPath(folder, 2).replace(/files$/, '')))) {
          if (others++ === after) {
            wakes.resolve();
            await first;
          }
        } else if (its++ === before) {
          paused.resolve();
          await wakes.promise;
        }
        await rename(from, to);
      });
      first = publishOutput(folder, 1).catch(({ code }) => assert.equal(code, 'ENOENT'));
      await paused.promise;
      assert.equal(await takeOverOutput(folder, 2), true);
      await publishOutput(folder, 2);
      wakes.resolve();
      await first;
      setRename(rename);
      assert.deepEqual(await read(folder), expected, `paused at move ${before}, goes on at move ${after}`);
    }
  }
});

test('an unfinished output of an earlier leader is removed, and that leader cannot write to it any more', async (t) => {
  const folder = await stage(t);
  await fs.rm(join(newFilesPath(folder, 1), 'job.json'));
  assert.equal(await takeOverOutput(folder, 2), false);
  await assert.rejects(write(newFilesPath(folder, 1), { 'job.json': 'complete' }, false), { code: 'ENOENT' });
  // Nor can it if it begins to lead the job again.
  assert.equal(await takeOverOutput(folder, 1), false);
  assert.deepEqual(await fs.readdir(newFilesPath(folder, 2)), []);
});

/** A folder with an earlier output, and a new one that the leader of epoch 1 has completed. */
async function stage(t: TestContext): Promise<string> {
  const folder = await fs.mkdtemp(join(tmpdir(), 'halogrid-publish-'));
  t.after(() => fs.rm(folder, { recursive: true }));
  await write(folder, earlier);
  assert.equal(await takeOverOutput(folder, 1), false);
  const files = newFilesPath(folder, 1);
  await write(files, output);
  for (const empty of ['preview', 'pipelines/edges/preview', 'pipelines/edges/maps']) {
    await fs.mkdir(join(files, empty), { recursive: true });
  }
  await fs.writeFile(movesPath(folder, 1), moves.map((move) => `${JSON.stringify(move)}\n`).join(''));
  return folder;
}

function setRename(rename: typeof fs.rename): void {
  fs.rename = rename;
  syncBuiltinESMExports();
}

async function write(folder: string, files: Record<string, string>, makesFolders = true): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    if (makesFolders) await fs.mkdir(dirname(join(folder, name)), { recursive: true });
    await fs.writeFile(join(folder, name), content);
  }
}

/** The texts of all files outside of the scratch folder, by path. */
async function read(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const name of await fs.readdir(folder, { recursive: true })) {
    if (name.startsWith('.halogrid')) continue;
    const isFile = (await fs.stat(join(folder, name))).isFile();
    if (isFile) files[name] = await fs.readFile(join(folder, name), 'utf8');
    else if (basename(name) === 'preview') assert.fail('a folder that nothing came to is not shown');
  }
  return files;
}
