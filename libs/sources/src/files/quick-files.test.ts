import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../testing/temporary-files.ts';
import { QuickFiles } from './quick-files.ts';

const content = Buffer.from('some bytes');

test('calls give the same on this thread and aside', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'file');
  await writeFile(path, content);
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  for (const files of [new QuickFiles(true), new QuickFiles(false)]) {
    assert.equal((await files.stat(path)).size, content.length);
    const file = await files.open(path);
    const into = Buffer.alloc(4);
    assert.deepEqual([await files.read(file, into, 5), into.toString()], [4, 'byte']);
    assert.equal(await files.read(file, into, 9), 1);
    await files.close(file);
    const missing = async (call: () => unknown) => call();
    for (const call of [() => files.stat(join(folder, 'none')), () => files.open(join(folder, 'none'))]) {
      await assert.rejects(missing(call), { code: 'ENOENT' });
    }
    await assert.rejects(
      missing(() => files.read(file, into, 0)),
      { code: 'EBADF' },
    );
    // Nobody writes to it.
    await files.close(await files.open(join(folder, 'pipe')));
  }
});

test('a thread that may wait makes calls itself until one is slow, then some aside', async () => {
  let takesMs = 0.1;
  let nowMs = 0;
  // A call looks at the clock before and after.
  const clock = () => {
    nowMs += takesMs;
    return nowMs;
  };
  const files = new QuickFiles(true, clock);
  const isAside = () => files.stat('/') instanceof Promise;
  assert.deepEqual([isAside(), isAside()], [false, false]);
  takesMs = 2;
  assert.equal(isAside(), false);
  takesMs = 0.1;
  for (let i = 0; i < 256; i++) assert.equal(isAside(), true);
  assert.equal(isAside(), false);
  assert.ok(new QuickFiles(false).stat('/') instanceof Promise);
});
