import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PassedOver } from '@halogrid/sources';
import { PassedOverCount } from './passed-over.ts';

function sentences(files: readonly string[], folders: readonly string[] = []): string[] {
  const count = new PassedOverCount();
  for (const path of files) count.add({ path, isFolder: false });
  for (const path of folders) count.add({ path, isFolder: true });
  return count.sentences();
}

test('files are counted by extension, the most frequent first, and folders by name', () => {
  assert.deepEqual(sentences([]), []);
  assert.deepEqual(sentences(['/a/b.txt']), ['1 file left out: 1 .txt']);
  const files = ['/a/1.db', '/a/2.TXT', '/a/3.txt', '/a.b/noext', '/a/img.jpg_original', '/a/.DS_Store', '/a/._1.jpg'];
  assert.deepEqual(sentences(files, ['/a/@eaDir', '/b/@eaDir', '/a/#recycle', '/a/.git']), [
    '7 files left out: 2 .txt, 2 hidden, 1 .db, 1 .jpg_original, 1 without an extension',
    '4 folders left out: 2 @eaDir, 1 #recycle, 1 hidden',
  ]);
  // Names whose ending a person would not call an extension.
  assert.deepEqual(sentences(['a.', 'v1.2 of it', `a.${'x'.repeat(17)}`, 'line.a\nb', 's3://bucket/x/readme']), [
    '5 files left out: 5 without an extension',
  ]);
});

test('what a filter leaves out is counted apart', () => {
  const told = (filter: { include: string[]; exclude: string[] }, ...passed: PassedOver[]): string[] => {
    const count = new PassedOverCount(filter);
    for (const one of passed) count.add(one);
    return count.sentences();
  };
  const exclude = { include: [], exclude: ['*.png', 'old'] };
  const text: PassedOver = { path: '/a/b.txt', isFolder: false };
  assert.deepEqual(told(exclude, text), ['1 file left out: 1 .txt', 'Nothing left out by exclude']);
  const filtered: PassedOver[] = [
    { path: '/a/1.png', isFolder: false, isFiltered: true },
    { path: '/a/old', isFolder: true, isFiltered: true },
  ];
  assert.deepEqual(told({ ...exclude, include: ['a'] }, text, ...filtered), [
    '1 file left out: 1 .txt',
    '1 file left out by include and exclude: 1 .png',
    '1 folder left out by include and exclude: 1 old',
  ]);
});

test('the sentences are bounded, however many kinds there are', () => {
  const files = Array.from({ length: 5000 }, (_, i) => [`/${i}.x${i}`, ...(i < 22 ? [`/again.x${i}`] : [])]).flat();
  const [sentence] = sentences(files);
  const first = [0, 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 2, 20, 21, 3, 4, 5, 6, 7].map((i) => `2 .x${i}`);
  assert.equal(sentence, `5022 files left out: ${first.join(', ')}, 4982 others`);
});
