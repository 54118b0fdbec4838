import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeStatus } from '@halogrid/proto';
import { nodeCard } from './node-view.js';
import { Rates } from './rates.js';

const gpu = { uuid: 'GPU-1', pciBusId: '0000:0f:00.0' };
const node: NodeStatus = {
  ...NodeStatus.fromPartial({
    ...{
      nodeId: 'n',
      name: 'north',
      leases: 2,
      shardsDone: 3,
      shardsFailed: 1,
      pixelsDone: 5e6,
      attachedMs: 0,
      threads: 4,
    },
    device: { kind: 'gpu', name: 'NVIDIA H200', driver: '550', gpu },
  }),
  sees: [],
  leasedBytes: 2e6,
  creditBytes: 1e9,
  lastFailure: '',
  lastFailureMs: 0,
};
const rowsOf = (change: Partial<NodeStatus>) => new Map(nodeCard({ ...node, ...change }, 60_000, new Rates()).rows);

test('the card of a node shows its GPU, its work, and its failures', () => {
  assert.deepEqual(
    [...rowsOf({})],
    [
      ['throughput', '–'],
      ['holds', '2 shards, 2 MB of 1 GB'],
      ['done', '3 shards, 5 Mpx'],
      ['failed', '1 shard'],
      ['threads', '4 for reading and decoding'],
      ['GPU', 'GPU-1 at 0000:0f:00.0'],
      ['driver', '550'],
      ['attached', '1 min ago'],
      ['sees', 'not checked yet'],
    ],
  );
  const cores = rowsOf({ device: { kind: 'cpu', name: 'EPYC', driver: 'Node.js' } });
  assert.deepEqual([cores.has('GPU'), cores.has('driver')], [false, false]);
});

test('workers are shown with how many are busy, and how much waits for them', () => {
  const rows = rowsOf({
    load: [
      { kind: 'decode', workers: 4, busy: 3.25, queued: 5 },
      { kind: 'video', workers: 4, busy: 0, queued: 0 },
      { kind: 'device', workers: 1, busy: 0, queued: 1 },
    ],
  });
  assert.deepEqual(
    ['decoding', 'computing'].map((name) => rows.get(name)),
    ['3.3 of 4 busy, 5 waiting', 'none of 1 busy, 1 waiting'],
  );
  assert.ok(!rows.has('videos'));
});

test('places that a node sees are listed by what it does there, without folders inside other listed ones', () => {
  const sees = [
    ...['read file:///data', 'read file:///data/a%20b', 'read s3://bucket', 'decode video'],
    ...['write file:///out/1/.halogrid', 'write file:///out/2/.halogrid'],
  ];
  const rows = rowsOf({ sees });
  assert.deepEqual(
    ['reads', 'writes', 'decodes'].map((name) => rows.get(name)),
    ['/data, s3://bucket', '/out/1, /out/2', 'videos'],
  );
  const many = Array.from({ length: 7 }, (_, i) => `write file:///out/${i}/.halogrid`);
  assert.equal(rowsOf({ sees: many }).get('writes'), '/out/3, /out/4, /out/5, /out/6, 3 more');
});
