import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SourceLines, SourceLists } from './source-lines.ts';

test('a line of any list is found, with how many before it have a row of histograms', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-lines-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'sources.jsonl');
  // Longer than what is read at once.
  const uriOf = (i: number) => `file:///${'ä'.repeat(100)}"quarantined":true/${i}`;
  const lines = Array.from({ length: 9_000 }, (_, i) =>
    JSON.stringify({ uri: uriOf(i), ...(i % 3 === 1 ? { quarantined: true } : { name: `n${i}` }) }),
  );
  await writeFile(path, ['{"file":"sources"}', ...lines, ''].join('\n'));
  const list = await SourceLines.open(path);
  assert.equal(list.length, 9_000);
  const found = await list.read(8_998, 10);
  assert.deepEqual(
    found.map(({ index, done, line }) => [index, done, line.uri, line.quarantined ?? false]),
    [
      [8_998, 5_999, uriOf(8_998), true],
      [8_999, 5_999, uriOf(8_999), false],
    ],
  );

  const spread = await list.read(0, 3, 4_000);
  assert.deepEqual(
    spread.map(({ index }) => index),
    [0, 4_000, 8_000],
  );
  for (const index of [0, 4_444, 8_999]) assert.equal(await list.find(uriOf(index)), index);
  // The beginning of another name, a name that is in others, and a frame that no image has.
  assert.deepEqual(await Promise.all([uriOf(1).slice(0, -2), '/0', uriOf(9_000)].map((uri) => list.find(uri))), [
    undefined,
    undefined,
    undefined,
  ]);
  assert.equal(await list.find(uriOf(3), 2), undefined);

  const lists = new SourceLists();
  const first = await lists.at(path);
  assert.equal(await lists.at(path), first);
  await writeFile(path, '{"file":"sources"}\n');
  assert.equal((await lists.at(path)).length, 0);
});
