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
    { index: 9, uri: 'http://archive/b.jpg', version: 'etag', pin: 'etag' },
  ]);
  const handOver = 'http://host:9464/handover/j/t';
  const lease = Lease.fromPartial({ sources, scratch: 'file:///out', handOver });
  const remote = toRemoteLease(lease, true);
  assert.equal(remote.scratch, `${handOver}/chunks`);
  assert.deepEqual(
    unpackLease(new SourceBlock(remote.sources)).map(({ index, uri, version }) => [index, uri, version]),
    [
      [7, `${handOver}/sources/7/a%20b.jpg`, undefined],
      [9, 'http://archive/b.jpg', 'etag'],
    ],
  );
  const seen = { ...lease, scratch: `${handOver}/chunks` };
  assert.deepEqual(toRemoteLease(lease, false), seen, 'a node that sees the sources only sends results');
});
