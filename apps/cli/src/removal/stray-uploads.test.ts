import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BegunUpload, judgeUploads } from './stray-uploads.ts';

const upload = (key: string, begunMs = 0): BegunUpload => ({ uri: `s3://b/${key}`, id: key, begunMs });
const outputs = [
  { path: 's3://b/ended', isUnfinished: false, state: 'complete' },
  { path: 's3://b/ended/inside', isUnfinished: false, state: 'part' },
  { path: 's3://b/running', isUnfinished: true, state: 'running' },
] as const;

const rows: [key: string, unfinished: boolean, olderThanMs: number | undefined, judged: string][] = [
  ['ended/maps/a.tif', false, undefined, 'keep s3://b/ended'],
  ['ended/maps/a.tif', true, undefined, 'remove s3://b/ended'],
  ['ended/maps/a.tif', true, 100, 'remove s3://b/ended'],
  ['ended/maps/a.tif', true, 101, 'keep s3://b/ended'],
  ['ended/.halogrid/parts/1/features.parquet', true, undefined, 'remove s3://b/ended'],
  ['ended/inside/job.json', true, undefined, 'remove s3://b/ended/inside'],
  ['ended/notes.txt', true, undefined, 'keep of no output'],
  ['endedness/job.json', true, undefined, 'keep of no output'],
  ['running/job.json', true, undefined, ''],
];

for (const [key, unfinished, olderThanMs, expected] of rows) {
  test(`an upload of '${key}', ${JSON.stringify({ unfinished, olderThanMs })}: ${expected || 'is in use'}`, () => {
    const judged = judgeUploads([upload(key)], outputs, { nowMs: 100, unfinished, olderThanMs });
    assert.equal(judged.map(({ fate, path = 'of no output' }) => `${fate} ${path}`).join(), expected);
  });
}

test('uploads of an output are told apart by their age', () => {
  const begun = [upload('ended/job.json', 0), upload('ended/errors.jsonl', 60)];
  const judged = judgeUploads(begun, outputs, { nowMs: 100, unfinished: true, olderThanMs: 50 });
  assert.deepEqual(
    judged.map(({ fate, uploads }) => [fate, uploads]),
    [
      ['remove', [begun[0]]],
      ['keep', [begun[1]]],
    ],
  );
});
