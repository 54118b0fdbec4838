import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type NativeCalls, nativeCalls } from '../files/native-calls.ts';
import { imagesBelow, type PassedOver } from '../globs/selection.ts';
import { temporaryFolder } from '../testing/temporary-files.ts';
import type { FoundFile } from './found-file.ts';
import { walkFolder } from './walk-folder.ts';

const calls = nativeCalls(true);
const skip = calls ? false : 'this system has no such calls';

async function walked(folder: string, by: NativeCalls | undefined, aloneFiles?: number): Promise<FoundFile[]> {
  const options = { calls: by, aloneFiles };
  const passed: FoundFile[] = [];
  const onPassedOver = ({ path, isFolder }: PassedOver) => {
    passed.push({ name: path, sizeBytes: isFolder ? 1 : 0 });
  };
  const found = (await Array.fromAsync(walkFolder(folder, imagesBelow, { ...options, onPassedOver }))).flat();
  return [...found, ...passed.sort((a, b) => (a.name < b.name ? -1 : 1))];
}

test('a folder of many files, folders and links is the same by system calls and by Node’s calls', {
  skip,
}, async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of ['day/cam 1', 'day/ünï', '.hidden', 'locked']) mkdirSync(join(folder, name), { recursive: true });
  for (let i = 0; i < 1500; i++) {
    const path = join(folder, i % 3 ? 'day/cam 1' : '.', `frame-${(i * 7919) % 1500}.jpg`);
    writeFileSync(path, 'x'.repeat(i % 50));
    utimesSync(path, 1, 1_700_000_000 + (i * 997) / 1009);
  }
  utimesSync(join(folder, 'frame-0.jpg'), 1, -1234.5678);
  for (const name of ['day/ünï/漢字.png', 'day/ünï/😀.png', 'day/ünï/\ufffd.png', '.hidden/x.png', '.x.png', 'a.txt']) {
    writeFileSync(join(folder, name), name);
  }
  writeFileSync(
    Buffer.concat([Buffer.from(join(folder, 'day/')), Buffer.from([0x66, 0xfc, 0x2e, 0x6a, 0x70, 0x67])]),
    '',
  );
  symlinkSync('frame-3.jpg', join(folder, 'link.jpg'));
  symlinkSync('nothing', join(folder, 'dangling.jpg'));
  symlinkSync('circle.jpg', join(folder, 'circle.jpg'));
  symlinkSync('..', join(folder, 'day/up'));
  mkdirSync(join(folder, 'folder.jpg'));
  chmodSync(join(folder, 'locked'), 0);
  const found = await walked(folder, calls);
  assert.deepEqual(found, await walked(folder, undefined));
  for (const aloneFiles of [0, 700]) assert.deepEqual(await walked(folder, calls, aloneFiles), found);
  assert.ok(found.length > 1500, `${found.length}`);
});

test('on a slow disk, files are looked up aside, and are the same', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  for (let i = 0; i < 300; i++) writeFileSync(join(folder, `${i}.png`), 'x'.repeat(i));
  let looks = 0;
  const slow: NativeCalls = {
    ...calls!,
    statx: (...given) => {
      if (looks++ % 16 === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      return calls!.statx(...given);
    },
  };
  assert.deepEqual(await walked(folder, slow), await walked(folder, undefined));
  assert.equal(looks, 64);
});

test('a folder that cannot be read to its end is an input that says so', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  mkdirSync(join(folder, 'broken'));
  writeFileSync(join(folder, 'a.png'), '');
  let reads = 0;
  const broken: NativeCalls = {
    ...calls!,
    getdents64: (...given) => (++reads < 3 ? calls!.getdents64(...given) : -1),
    errno: () => 5,
  };
  const found = await walked(folder, broken);
  assert.deepEqual(
    found.map(({ name, error }) => [name, error]),
    [
      ['a.png', undefined],
      ['broken', 'The folder cannot be listed (EIO)'],
    ],
  );
});
