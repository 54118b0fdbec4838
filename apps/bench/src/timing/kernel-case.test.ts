import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runReference } from '@halogrid/kernels';
import { stageCase } from './kernel-case.ts';

const operations = [{ kernel: 'lbp', parameters: {} }];
const size = { width: 21, height: 9 };

test('a flat image has one code, a random one many, and a photo its own', () => {
  const codes = (input: 'random' | 'flat' | 'photo', photo?: Uint8Array) => {
    const { pipeline, item, bytes } = stageCase({ name: 'a', operations, output: 'histogram', input }, { size, photo });
    const { counted, bins } = runReference(pipeline, bytes, item, false);
    assert.equal(counted, 19 * 7);
    return bins.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0);
  };
  assert.equal(codes('flat'), 1);
  assert.ok(codes('random') > 20);
  assert.equal(
    codes(
      'photo',
      Uint8Array.from({ length: 21 * 9 }, (_, i) => i % 21),
    ),
    1,
  );
  assert.throws(() => codes('photo', new Uint8Array(8)), /Expected 189 pixels for the photo but received 8/);
  assert.throws(() => codes('photo'), /received none/);
});

test('further photos are laid out as the first', () => {
  const [photo, other] = [1, 2].map((value) => new Uint8Array(21 * 9).fill(value)) as [Uint8Array, Uint8Array];
  const { bytes, moreBytes, item } = stageCase(
    { name: 'a', operations, output: 'map', input: 'photo' },
    { size, photo, morePhotos: [other] },
  );
  assert.equal(moreBytes.length, 1);
  const firstRow = (of: Uint8Array) => [...new Set(of.subarray(item.offset, item.offset + 21))];
  assert.deepEqual([firstRow(bytes), firstRow(moreBytes[0]!)], [[1], [2]]);
  assert.equal(moreBytes[0]!.length, bytes.length);
});

test('a map alone is not counted', () => {
  const { pipeline, withMap } = stageCase({ name: 'a', operations, output: 'map' }, { size });
  assert.deepEqual([pipeline.bins, withMap], [0, true]);
});
