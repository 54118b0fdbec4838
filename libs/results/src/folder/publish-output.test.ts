import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { isReady, movesPath, publishOutput } from './publish-output.ts';

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
/** Names may go round: what is a becomes b. */
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

test('a process may end at any step: the output is complete when its job.json says so, and the next one ends the rest', async (t) => {
  const { rename } = fs;
  t.after(() => setRename(rename));
  let interrupted = 0;
  for (let steps = 0; ; steps++) {
    const folder = await fs.mkdtemp(join(tmpdir(), 'halogrid-publish-'));
    t.after(() => fs.rm(folder, { recursive: true }));
    await write(folder, earlier);
    await write(join(folder, '.halogrid', 'output'), output);
    for (const empty of ['preview', 'pipelines/edges/preview', 'pipelines/edges/maps']) {
      await fs.mkdir(join(folder, '.halogrid', 'output', empty), { recursive: true });
    }
    await fs.writeFile(movesPath(folder), moves.map((move) => `${JSON.stringify(move)}\n`).join(''));
    let left = steps;
    setRename(async (from, to) => {
      if (left-- === 0) throw new Error('The process ends');
      await rename(from, to);
    });
    const isInterrupted = await publishOutput(folder).then(
      () => false,
      ({ message }) => message === 'The process ends',
    );
    setRename(rename);
    if (isInterrupted) {
      interrupted++;
      assert.equal(await fs.readFile(join(folder, 'job.json'), 'utf8'), 'running');
      assert.ok(await isReady(folder));
      await publishOutput(folder);
    }
    assert.ok(!(await isReady(folder)));
    assert.deepEqual(await read(folder), expected);
    if (!isInterrupted) break;
  }
  assert.equal(interrupted, 14);
});

test('a folder takes the place of a file, and of another folder', async (t) => {
  const parts = { 'job.json': 'complete', 'features.parquet/1.parquet': 'new' };
  for (const name of ['features.parquet', 'features.parquet/0.parquet']) {
    const folder = await fs.mkdtemp(join(tmpdir(), 'halogrid-publish-'));
    t.after(() => fs.rm(folder, { recursive: true }));
    await write(folder, { 'job.json': 'running', [name]: 'old' });
    await write(join(folder, '.halogrid', 'output'), parts);
    await publishOutput(folder);
    assert.deepEqual(await read(folder), parts);
  }
});

function setRename(rename: typeof fs.rename): void {
  fs.rename = rename;
  syncBuiltinESMExports();
}

async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await fs.mkdir(dirname(join(folder, name)), { recursive: true });
    await fs.writeFile(join(folder, name), content);
  }
}

/** Every file but those in the scratch folder. */
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
