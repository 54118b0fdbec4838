import assert from 'node:assert/strict';
import { test } from 'node:test';
import { excessOf, Lease, leaseBounds, maxSourceBlockBytes } from '@halogrid/proto';
import { packSources } from '@halogrid/sources/pack-sources';
import { unpackLease } from './unpack-lease.ts';

const named = { index: 7, uri: 'file:///in/a.jpg', version: '5 17.25', preview: true as const };
const free = { index: 9, uri: 'file:///in/b.jpg' };
const block = packSources([named, free].map((source) => ({ ...source, name: 'x', sizeBytes: 5 })));

function sourcesOf(batch: object, more: object = {}): object[] {
  const lease = Lease.fromPartial({ work: { $case: 'frames', value: { block, ...batch } }, ...more });
  const { work } = unpackLease(lease);
  assert.ok(work?.$case === 'frames' && work.value.block === undefined);
  return work.value.sources.map((source) => JSON.parse(JSON.stringify(source)));
}

test('sources of a block are those that were packed', () => {
  assert.deepEqual(sourcesOf({}), [named, free]);
});

test('versions that a node is not held to are left out, and so are previews of what is only compared', () => {
  const { version: _, ...unpinned } = named;
  assert.deepEqual(sourcesOf({ anyVersion: true }), [unpinned, free]);
  const { preview: __, ...compared } = named;
  assert.deepEqual(sourcesOf({}, { verify: true }), [compared, free]);
});

test('a lease that names its sources stays as it is, and one whose block is damaged or too long is refused', () => {
  const lease = Lease.fromPartial({ work: { $case: 'frames', value: { sources: [named] } } });
  assert.equal(unpackLease(lease), lease);
  assert.throws(() => sourcesOf({ block: block.subarray(1) }), { name: 'BlockError' });
  const long = Lease.fromPartial({
    work: { $case: 'frames', value: { block: new Uint8Array(maxSourceBlockBytes + 1) } },
  });
  assert.equal(excessOf(long, leaseBounds)?.what, 'frames.block');
});
