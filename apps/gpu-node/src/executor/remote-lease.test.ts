import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lease } from '@halogrid/proto';
import { SourceBlock } from '@halogrid/sources/source-block';
import { toRemoteLease } from './remote-lease.ts';
import { packed } from './testing/shard-fixture.ts';
import { unpackLease } from './unpack-lease.ts';

test('files of the coordinator are read from its hand-over URL, where it checks the version, and other files from where they are', () => {
  const sources = packed([
    { index: 7, uri: 'file:///in/a%20b.jpg', version: '5 17', pin: '5 17', sizeBytes: 5 },
    { index: 8, uri: 'file:///in/b.tar#/cam%201/b@512+40.jpg', version: '900 17', pin: '900 17', sizeBytes: 40 },
    { index: 10, uri: 'file:///in/c.parquet#image/4', version: '900 17', pin: '900 17', sizeBytes: 40 },
    { index: 11, uri: 'file:///in/c.parquet#image/cam%201/b@5.jpg', version: '900 17', pin: '900 17', sizeBytes: 40 },
    {
      index: 19,
      uri: 'http://archive/b.jpg',
      version: 'etag',
      pin: 'etag',
      mask: { uri: 'file:///m/b.png', version: '1 2' },
    },
  ]);
  const handOver = 'http://host:9464/handover/j/t';
  const lease = Lease.fromPartial({ sources, scratch: 'file:///out', handOver });
  const remote = toRemoteLease(lease, true);
  assert.equal(remote.scratch, `${handOver}/chunks`);
  assert.deepEqual(
    unpackLease(new SourceBlock(remote.sources)).map(({ index, uri, version, mask }) => [index, uri, version, mask]),
    [
      [7, `${handOver}/sources/7/a%20b.jpg`, undefined, undefined],
      [8, `${handOver}/sources/8/b.tar#/cam%201/b@512+40.jpg`, undefined, undefined],
      [10, `${handOver}/sources/10/c.parquet#image/4`, undefined, undefined],
      [11, `${handOver}/sources/10/c.parquet#image/cam%201/b@5.jpg`, undefined, undefined],
      [19, 'http://archive/b.jpg', 'etag', { uri: `${handOver}/masks/19/b.png` }],
    ],
  );
  const seen = { ...lease, scratch: `${handOver}/chunks` };
  assert.deepEqual(toRemoteLease(lease, false), seen, 'a node that sees the sources only sends results');
});
