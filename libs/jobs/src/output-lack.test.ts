import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lackOf, waitedInVain, waitsFor } from './output-lack.ts';

const failing = (code: string): Error => Object.assign(new Error(`${code}: it failed, write`), { code });
const wrapped = (cause: Error): Error => new Error("'features.parquet' could not be written", { cause });

test('a full disk, a folder that is away and lasting errors are told apart, also inside other errors', () => {
  for (const code of ['ENOSPC', 'EDQUOT']) {
    assert.equal(lackOf(failing(code))?.kind, 'room', code);
    assert.deepEqual(lackOf(wrapped(failing(code))), {
      kind: 'room',
      error: "'features.parquet' could not be written",
    });
  }
  for (const code of ['ESTALE', 'EIO', 'ENOENT', 'EACCES', 'ENOTCONN', 'ETIMEDOUT', 'EMFILE']) {
    assert.equal(lackOf(wrapped(failing(code)))?.kind, 'folder', code);
  }
  for (const error of [
    failing('EFBIG'),
    failing('EROFS'),
    new Error('The map chunk holds 7 bytes instead of 9'),
    'It is broken',
  ]) {
    assert.equal(lackOf(error), undefined);
  }
});

test('a sentence of a library, of SQLite or of a node tells of a full disk', () => {
  for (const sentence of [
    'write error: No space left on device',
    "The ledger '/out/.halogrid/ledger.sqlite' cannot be used: the disk is full",
    'ENOSPC: no space left on device, write',
    'Disk quota exceeded',
  ]) {
    assert.deepEqual(lackOf(sentence), { kind: 'room', error: sentence });
  }
});

test('the free bytes of the disk are shown if they are known, but not for a quota', () => {
  const room = { kind: 'room', error: 'ENOSPC: no space left', freeBytes: 12_300 } as const;
  assert.equal(waitsFor('/out', room), "It waits for room in '/out' (12.3 kB free): ENOSPC: no space left");
  const quota = { ...room, error: 'EDQUOT: disk quota exceeded' };
  assert.equal(waitsFor('/out', quota), "It waits for room in '/out': EDQUOT: disk quota exceeded");
  assert.match(
    waitedInVain('/out', room, 600_000),
    /^There is no room in '\/out' for 600 s \(12.3 kB free\): .*make room/,
  );
});
