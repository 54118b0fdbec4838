import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listHead } from '@halogrid/results/list-head';
import { SourceList } from '@halogrid/results/source-list';
import { EarlierIndex } from './earlier-index.ts';

const headLine = JSON.stringify(listHead);

const done = { name: 'a', width: 1, height: 1, counted: 1, digest: '00' };

test('the frames of a video are one file, and a line about its unreadable end belongs to it', async (t) => {
  const index = (await load(t, [
    { uri: 'file:///a.jpg', ...done },
    { uri: 'file:///v.mkv', frame: 0, ...done },
    { uri: 'file:///v.mkv', frame: 2, ...done },
    // The same video, listed again; its end could not be read.
    { uri: 'file:///v.mkv', frame: 0, ...done },
    { uri: 'file:///v.mkv', quarantined: true },
    { uri: 'file:///é.jpg', ...done },
  ]))!;
  assert.deepEqual([index.files, index.done], [4, 5]);
  const facts = [0, 1, 2, 3].map((file) => {
    const { sourcesBefore, doneBefore, sources, areAllDone } = index.file(file);
    return [sourcesBefore, doneBefore, sources, areAllDone];
  });
  assert.deepEqual(facts, [
    [0, 0, 1, true],
    [1, 1, 2, true],
    [3, 3, 2, false],
    [5, 4, 1, true],
  ]);
});

test('a file that is listed twice is taken twice, in order, and files that were not taken are left', async (t) => {
  const uris = ['file:///a', 'file:///b', 'file:///a', 'file:///c'];
  const index = (await load(
    t,
    uris.map((uri) => ({ uri, ...done })),
  ))!;
  const taken = ['file:///a', 'file:///a', 'file:///a', 'file:///c', 'file:///d'].map((uri) => index.take(uri));
  assert.deepEqual(taken, [0, 2, undefined, 3, undefined]);
  assert.deepEqual([...index.left()], [1]);
});

test('a missing list or another version gives no index, and a changed list is refused with one sentence', async (t) => {
  const lines = [{ uri: 'file:///a', ...done }];
  const { resultsVersion, ...head } = listHead;
  for (const other of [
    head,
    { ...head, resultsVersion: 2 },
    { ...head, resultsVersion: resultsVersion - 1 },
    { ...head, format: 2, resultsVersion },
    {},
  ]) {
    assert.equal(await load(t, lines, JSON.stringify(other)), undefined);
  }
  assert.equal(await load(t, lines, 'no head'), undefined);
  const bySoftware = await load(t, lines, JSON.stringify({ ...head, halogrid: '0.0.1', resultsVersion }));
  assert.equal(bySoftware?.done, 1, 'another version of the software may have the same results');
  assert.deepEqual([bySoftware.isSame(false), bySoftware.isSame(true)], [true, true]);
  await assert.rejects(load(t, ['{"uri'], headLine), /sources.jsonl' has changed since it was written; a fresh run/);
});

async function load(t: TestContext, lines: (object | string)[], head = headLine): Promise<EarlierIndex | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-earlier-'));
  t.after(() => rm(folder, { recursive: true }));
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  await writeFile(join(folder, 'sources.jsonl'), [head, ...text, ''].join('\n'));
  return EarlierIndex.load((await SourceList.open(folder))!, head);
}
