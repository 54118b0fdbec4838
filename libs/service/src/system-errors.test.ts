import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type SystemError, whyNotServed, whyNotWritten, writing } from './system-errors.ts';

const error = (code: string) =>
  Object.assign(new Error(`${code}: words of the system`), { code, syscall: 'open' }) as SystemError;

test('errors of the system about files and addresses are put in usual words, with their codes', () => {
  assert.equal(whyNotWritten(error('EACCES')), 'this user may not write there (EACCES)');
  assert.equal(whyNotServed(error('EACCES')), 'this user may not listen on that port (EACCES)');
  assert.equal(whyNotServed(error('EADDRINUSE')), 'another program listens there (EADDRINUSE)');
  assert.equal(whyNotWritten(error('EIO')), 'EIO: words of the system');
});

test('a path that cannot be written is named once, with an alternative', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-writing-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const refusals: [path: string, write: () => Promise<unknown>, why: string][] = [
    [join(folder, 'a', 'b'), () => writeFile(join(folder, 'a', 'b'), ''), 'a folder of that path is missing'],
    [folder, () => writeFile(folder, ''), 'it is a folder'],
    [join(file, 'x'), () => mkdir(join(file, 'x')), 'a part of that path is a file'],
  ];
  for (const [path, write, why] of refusals) {
    await assert.rejects(writing(path, 'another file with -o', write), ({ message }: Error) => {
      assert.ok(message.startsWith(`'${path}' cannot be written: ${why}`), message);
      assert.match(message, / \(E[A-Z]+\); give another file with -o$/);
      return true;
    });
  }
  assert.equal(await writing(file, 'another', async () => 7), 7);
  const other = new Error('of another kind');
  await assert.rejects(
    writing(file, 'another', () => Promise.reject(other)),
    other,
  );
});
