import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Shard } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { needsOfJob } from './needs-of.ts';

const frames = (...uris: string[]): Shard => ({
  shard: 0,
  costBytes: 1,
  work: { kind: 'frames', sources: plannedSources(uris.map((uri, index) => ({ index, uri }))) },
});

const table: [what: string, sources: string[], reads: string[], needs: string[]][] = [
  ['a folder', ['file:///data/a'], ['file:///data/a/b/c/1.pgm'], ['read file:///data/a']],
  ['a folder named with a slash', ['file:///data/a/'], ['file:///data/a/1.pgm'], ['read file:///data/a']],
  ['the inner of two folders', ['file:///data', 'file:///data/a'], ['file:///data/a/1.pgm'], ['read file:///data/a']],
  [
    'the folder that a pattern begins with',
    ['file:///data/a/cam*/x.pgm'],
    ['file:///data/a/cam1/x.pgm'],
    ['read file:///data/a'],
  ],
  ['the folder of a file', ['file:///data/a/1.pgm'], ['file:///data/a/1.pgm'], ['read file:///data/a']],
  [
    'the folder of a file that a manifest names',
    ['file:///lists/l.txt'],
    ['file:///far/b/1.pgm'],
    ['read file:///far/b'],
  ],
  ['a host', ['https://host:8443/a/l.txt'], ['https://host:8443/x/y.pgm?k=1'], ['read https://host:8443']],
  ['a bucket', ['s3://bucket/cams/'], ['s3://bucket/cams/1.pgm'], ['read s3://bucket']],
  [
    'two folders',
    ['file:///a', 'file:///b'],
    ['file:///a/1.pgm', 'file:///b/2.pgm'],
    ['read file:///a', 'read file:///b'],
  ],
  ['JPEGs', ['file:///a'], ['file:///a/1.JPG'], ['read file:///a', 'decode jpeg']],
  ['slides', ['file:///a'], ['file:///a/1.mrxs'], ['read file:///a', 'decode slide']],
];

for (const [what, sources, reads, needs] of table) {
  test(`a shard needs ${what} to be read`, () => {
    const needsOf = needsOfJob({ sources, mapFormat: 'none' }, 'file:///out/.scratch');
    const [read, decode] = [needs.filter((need) => need.startsWith('read')), needs.slice(reads.length)];
    const writes = 'write file:///out/.scratch';
    assert.deepEqual(needsOf(frames(...reads)), [...read, writes, ...decode]);
  });
}

test("tiles that leave maps or previews need to write to the job's folder", () => {
  const spec = { sources: ['file:///a'], mapFormat: 'none' };
  const size = { width: 2, height: 1 };
  const shard = (more: { preview?: true }): Shard => {
    const sources = plannedSources([{ index: 19, uri: 'file:///a/1.pgm', tiles: 2, ...more }]);
    return { ...frames(), work: { kind: 'tile', sources, size, rect: { x: 0, y: 0, width: 1, height: 1 } } };
  };
  const needs = ['read file:///a', 'write file:///out/.scratch'];
  assert.deepEqual(needsOfJob(spec, 'file:///out/.scratch')(shard({ preview: true })), needs);
  assert.deepEqual(needsOfJob(spec, 'file:///out/.scratch')(shard({})), needs.slice(0, 1));
  assert.deepEqual(needsOfJob({ ...spec, mapFormat: 'tiff' }, 'file:///out/.scratch')(shard({})), needs);
});

test('frames of a video need a video decoder', () => {
  const segment = { packet: 0, position: 0, size: 1, strictFrom: 0, end: 1, version: '', hwaccel: '' };
  const sources = plannedSources([{ index: 99, uri: 'file:///a/v.mp4' }]);
  const needsOf = needsOfJob({ sources: ['file:///a'], mapFormat: 'none' }, 'file:///s');
  assert.deepEqual(needsOf({ shard: 0, costBytes: 1, work: { kind: 'frames', sources, segment } }), [
    'read file:///a',
    'write file:///s',
    'decode video',
  ]);
});

test('times of a named zone need the time-zone data of the coordinator', () => {
  const zoned = (zone: string): readonly string[] => {
    const captured = { from: '', zone };
    return needsOfJob({ sources: ['file:///a'], mapFormat: 'none', captured }, 'file:///s')(frames('file:///a/1.pgm'));
  };
  const plain = zoned('');
  for (const zone of ['UTC', '+02:00']) assert.deepEqual(zoned(zone), plain);
  assert.deepEqual(zoned('Europe/Berlin'), [...plain, `zones ${process.versions.tz}`]);
});

test('shards with the same needs share one list, and folders beyond the first 32 are not needed', () => {
  const needsOf = needsOfJob({ sources: ['file:///l.txt'], mapFormat: 'none' }, 'file:///s');
  const all = Array.from({ length: 100 }, (_, i) => needsOf(frames(`file:///root-${i}/1.pgm`)));
  assert.deepEqual(
    all.map((needs) => needs.length),
    all.map((_, i) => (i < 32 ? 2 : 1)),
  );
  assert.equal(needsOf(frames('file:///root-7/2.pgm')), all[7]);
  const hosts = Array.from({ length: 100 }, (_, i) => needsOf(frames(`http://camera-${i}/1.jpg`)));
  for (const [i, needs] of hosts.entries()) assert.equal(needs[0], `read http://camera-${i}`);
});
