import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packSources } from '@halogrid/sources/pack-sources';
import { SourceBlock } from '@halogrid/sources/source-block';
import { unpackLease } from './unpack-lease.ts';

const its = { name: 'x', sizeBytes: 5 };
const sources = packSources([
  { ...its, index: 7, uri: 'file:///in/a.jpg', version: '5 17.25', pin: '5 17.25', preview: true },
  { ...its, index: 9, uri: 'file:///in/b.jpg', version: '5 18.5', place: { packet: 3, order: 0 } },
]);
const unpacked = (bytes: Uint8Array): object[] =>
  unpackLease(new SourceBlock(bytes)).map((source) => JSON.parse(JSON.stringify(source)));

test('sources of a lease are unpacked as they were packed, with the versions that the node must find', () => {
  assert.deepEqual(unpacked(sources), [
    { index: 7, uri: 'file:///in/a.jpg', sizeBytes: 5, version: '5 17.25', preview: true },
    { index: 9, uri: 'file:///in/b.jpg', sizeBytes: 5, place: { packet: 3, order: 0 } },
  ]);
});

test('a lease to verify has no previews', () => {
  assert.equal(unpackLease(new SourceBlock(sources), true)[0]!.preview, undefined);
});

test('a lease whose sources are damaged is refused', () => {
  assert.throws(() => unpacked(sources.subarray(1)), { name: 'BlockError' });
  assert.throws(() => unpacked(new Uint8Array()), { name: 'BlockError' });
});
