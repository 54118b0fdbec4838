import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ResultFiles } from '@halogrid/client';
import { placeAt } from '@halogrid/results/place';
import { UsageError } from '@halogrid/service';
import { copyResults } from './copy-results.ts';
import { filesOfPlace } from './result-files.ts';

const root = await mkdtemp(join(tmpdir(), 'halogrid-results-'));
after(() => rm(root, { recursive: true, force: true }));
let folders = 0;
const newFolder = () => join(root, String(folders++), 'deep', 'results');

type Copied = Pick<ResultFiles, 'list' | 'open'>;

/** A source of these files; `bytes` says how long they are claimed to be. */
function filesOf(contents: Record<string, string>, bytes = (text: string) => text.length): Copied {
  return {
    list: async () => Object.entries(contents).map(([name, text]) => ({ name, bytes: bytes(text) })),
    open: async (name) => new Blob([contents[name] ?? '']).stream(),
  };
}

test('every file arrives under its name, in a folder that is missing or empty', async () => {
  const contents = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`maps/a ${i}.zarr/c/${i}/0`, `codes ${i}`]),
  );
  const files = filesOf({ 'job.json': '{}', 'errors.jsonl': '', ...contents });
  const [missing, empty] = [newFolder(), newFolder()];
  await mkdir(empty, { recursive: true });
  for (const folder of [missing, empty]) {
    assert.equal(await copyResults(files, folder), 22);
    for (const [name, text] of Object.entries(contents)) assert.equal(await readFile(join(folder, name), 'utf8'), text);
    assert.equal(await readFile(join(folder, 'errors.jsonl'), 'utf8'), '');
    assert.deepEqual(await readdir(join(folder, '..')), ['results']);
  }
  const again = newFolder();
  assert.equal(await copyResults(filesOfPlace(placeAt(missing)), again), 22);
  assert.deepEqual(
    (await readdir(again, { recursive: true })).sort(),
    (await readdir(missing, { recursive: true })).sort(),
  );
});

test('a folder that is not empty is refused and left unchanged', async () => {
  const folder = newFolder();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'mine'), 'mine');
  await assert.rejects(copyResults(filesOf({ a: 'a' }), folder), UsageError);
  await assert.rejects(copyResults(filesOf({ a: 'a' }), join(folder, 'mine')), /is a file/);
  assert.deepEqual(await readdir(join(folder, '..'), { recursive: true }), ['results', 'results/mine']);
});

const broken: [string, Copied, RegExp][] = [
  ['a file that is cut short', filesOf({ a: 'abc' }, () => 4), /^Error: Expected 4 bytes of 'a' but received 3/],
  ['a file that grew', filesOf({ a: 'abc' }, () => 2), /but received 3/],
  ['a file that leads out', filesOf({ '../a': 'abc' }), /names a result '\.\.\/a', which is not a path inside/],
  ['an absolute path', filesOf({ '/etc/a': 'abc' }), /not a path inside/],
  ['a path of another system', filesOf({ 'maps\\..\\a': 'abc' }), /not a path inside/],
  [
    'a source that fails',
    { list: async () => [{ name: 'a', bytes: 1 }], open: () => Promise.reject(new Error('gone')) },
    /gone/,
  ],
];

for (const [name, files, sentence] of broken) {
  test(`${name} leaves nothing behind`, async () => {
    const folder = newFolder();
    await mkdir(join(folder, '..'), { recursive: true });
    await assert.rejects(copyResults(files, folder), sentence);
    assert.deepEqual(await readdir(join(folder, '..')), []);
  });
}
