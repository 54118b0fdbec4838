import assert from 'node:assert/strict';
import { statSync, utimesSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { localVersion } from './files/local-file.ts';
import {
  changedMsOf,
  isOfVersion,
  isStatedVersion,
  openSlideOf,
  slideVersion,
  statedVersion,
  tellsContent,
} from './stated-version.ts';
import { temporaryFile } from './testing/temporary-files.ts';
import { versionName } from './version-name.ts';

test('a slide is of its version if its files and OpenSlide are, as far as both tell', () => {
  const file = '20480 1767225600123.4568';
  const version = slideVersion(file, 'abc', '3.4.1');
  for (const [now, planned] of [
    [version, version],
    [version, file],
    [file, version],
    [version, 'mtime=1767225600.1234 size=20480'],
  ] as const)
    assert.ok(isOfVersion(now, planned), `${now} of ${planned}`);
  for (const other of [slideVersion(file, 'abd', '3.4.1'), slideVersion(file, 'abc', '4.0.0'), '20480 1', undefined])
    assert.ok(!isOfVersion(other, version), other);
  assert.ok(!isOfVersion(version, 'size=20481'));
  assert.deepEqual([openSlideOf(version), openSlideOf(file)], ['3.4.1', undefined]);
});

test('a size and a time to the nanosecond are the version that a listing gives', async (t) => {
  const path = fileURLToPath(await temporaryFile(t, 'a.png', 'abc'));
  for (const seconds of [0, 1_700_000_000, 1_700_000_000.123456, 1e9 + 1 / 3]) {
    utimesSync(path, seconds, seconds);
    const { mtimeNs } = statSync(path, { bigint: true });
    const text = `${mtimeNs / 10n ** 9n}.${String(mtimeNs % 10n ** 9n).padStart(9, '0')}`;
    const now = localVersion(statSync(path));
    // As find -printf '%T@' has it, with one digit more.
    assert.equal(statedVersion({ sizeBytes: 3, mtime: `${text}0` }, true), now);
    assert.notEqual(statedVersion({ sizeBytes: 4, mtime: text }, true), now);
  }
});

const local = '20000 1700000000123.4567';
const remote = versionName({ etag: '"abc-1"', lastModified: 'Tue, 14 Nov 2023 22:13:20 GMT', sizeBytes: 20_000 });

test('a length that is known once a file is read makes no other version of it', () => {
  const listed = versionName({ etag: '"1"', lastModified: undefined, sizeBytes: undefined });
  assert.ok(isOfVersion('"1" 20000', listed));
  for (const now of ['"2" 20000', '"1" x', '"1"20000', undefined]) assert.ok(!isOfVersion(now, listed), now);
  assert.ok(!isOfVersion('"1" 20000', '"1" 20001'));
});

test('stated facts hold for a file to as many decimals as are stated', () => {
  const table: [now: string | undefined, facts: Parameters<typeof statedVersion>[0], holds: boolean][] = [
    [local, { sizeBytes: 20_000 }, true],
    [local, { sizeBytes: 20_001 }, false],
    [local, { mtime: '1700000000' }, true],
    [local, { mtime: '1700000000.12' }, true],
    [local, { mtime: '1700000000.123457' }, true],
    [local, { mtime: '1700000000.123459' }, false],
    [local, { mtime: '1700000001.2' }, false],
    [local, { etag: 'abc' }, false],
    [remote, { etag: 'abc-1' }, true],
    [remote, { etag: '"abc-1"', sizeBytes: 20_000, mtime: '1700000000' }, true],
    [remote, { etag: '"abc-2"', sizeBytes: 20_000 }, false],
    [remote, { etag: '"abc-1"', sizeBytes: 2 }, false],
    [remote, { mtime: '1700000002' }, false],
    ['20000', { sizeBytes: 20_000 }, true],
    ['W/"weak" 20000', { etag: 'weak', sizeBytes: 20_000 }, true],
    ['20000', { etag: 'x' }, false],
    ['file:///gone.png', { sizeBytes: 1 }, false],
    [undefined, { sizeBytes: 1 }, false],
  ];
  for (const [now, facts, holds] of table) {
    const version = statedVersion(facts, false)!;
    assert.ok(isStatedVersion(version));
    assert.equal(isOfVersion(now, version), holds, `${now}: ${version}`);
  }
});

test('a listed version holds only for itself', () => {
  assert.ok(isOfVersion(local, local) && isOfVersion(remote, remote));
  assert.ok(!isOfVersion(local, '20000 1700000000123') && !isOfVersion(undefined, local));
  assert.equal(statedVersion({}, true), undefined);
});

test('a size alone proves nothing of the content of a file', () => {
  assert.ok(!tellsContent(statedVersion({ sizeBytes: 5 }, true)!));
  for (const facts of [{ mtime: '17' }, { sizeBytes: 5, mtime: '17' }, { etag: 'a', sizeBytes: 5 }]) {
    assert.ok(tellsContent(statedVersion(facts, true)!));
  }
});

test('a time that is stated tells when a file was changed', () => {
  assert.equal(changedMsOf(statedVersion({ sizeBytes: 5, mtime: '1700000000.5' }, true)!), 1_700_000_000_500);
  assert.equal(changedMsOf(statedVersion({ sizeBytes: 5 }, true)!), undefined);
});
