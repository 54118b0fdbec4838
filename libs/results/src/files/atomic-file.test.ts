import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../testing/maps.ts';
import { writeFileAtomically } from './atomic-file.ts';

test('text, bytes and pieces of text are written whole, over what was there', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'a.txt');
  await writeFileAtomically(path, 'a longer text');
  await writeFileAtomically(path, Uint8Array.of(104, 105));
  assert.equal(await readFile(path, 'utf8'), 'hi');

  const line = `${'é'.repeat(99)}\n`;
  await writeFileAtomically(path, Array<string>(3000).fill(line));
  assert.equal(await readFile(path, 'utf8'), line.repeat(3000));
  assert.deepEqual(await readdir(folder), ['a.txt']);
});

test('a failure half-way leaves the old file and no other', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'a.txt');
  await writeFileAtomically(path, 'old');
  const broken = function* (): Generator<string> {
    yield 'x'.repeat(100_000);
    throw new Error('no more');
  };
  await assert.rejects(writeFileAtomically(path, broken()), /no more/);
  assert.equal(await readFile(path, 'utf8'), 'old');
  assert.deepEqual(await readdir(folder), ['a.txt']);
});
