import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { documentedDigest } from '../testing/documented-digest.ts';
import { quarantinedDigest, sourceDigest } from './source-digest.ts';

test('a source digest is the SHA-256 of its numbers as 64-bit integers, for any of them', () => {
  const value = fc.oneof(fc.nat(), fc.maxSafeNat());
  fc.assert(
    fc.property(value, value, value, fc.array(value, { maxLength: 8 }), (width, height, counted, bins) => {
      const expected = documentedDigest(width, height, counted, bins);
      assert.deepEqual(sourceDigest({ width, height }, counted, bins), expected);
      assert.deepEqual(sourceDigest({ width, height }, counted, Float64Array.from(bins)), expected);
    }),
  );
});

test('the digest of a quarantined source is the SHA-256 of a word', () => {
  assert.deepEqual(quarantinedDigest, createHash('sha256').update('quarantined').digest());
});
