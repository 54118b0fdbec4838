import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SourceLists } from './source-lists.ts';

test('a list is read once as long as its file does not change', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-lists-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const lists = new SourceLists();
  await assert.rejects(lists.in(folder), /^Refusal: The job has no list of its sources any more: run it again$/);
  const path = join(folder, 'sources.jsonl');
  await writeFile(path, '{"file":"sources"}\n{"uri":"file:///a"}\n');
  const first = await lists.in(folder);
  assert.equal(first.length, 1);
  assert.equal(await lists.in(folder), first);
  await writeFile(path, '{"file":"sources"}\n');
  assert.equal((await lists.in(folder)).length, 0);
});
