import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import fc from 'fast-check';
import { jobLine } from '../ledger/job-line.ts';
import { jobDigest, quarantinedDigest, sourceDigest } from './digest.ts';

/** The rule as the documentation states it, one integer after another. */
function documentedDigest(width: number, height: number, counted: number, bins: number[]): Buffer {
  const sha = createHash('sha256').update('done');
  for (const value of [width, height, counted, ...bins]) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    sha.update(bytes);
  }
  return sha.digest();
}

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

test('a job digest is the SHA-256 of two lines and the digests of the sources in order', () => {
  const sources = [documentedDigest(2, 3, 6, [6, 0]), quarantinedDigest];
  const expected = createHash('sha256').update('halogrid digest 1\nlbp border=zero\n');
  for (const source of sources) expected.update(source);
  assert.deepEqual(quarantinedDigest, createHash('sha256').update('quarantined').digest());
  const digest = expected.digest('hex');
  assert.equal(jobDigest('lbp border=zero', sources), digest);
  assert.equal(jobDigest('lbp border=zero', [Buffer.concat(sources)]), digest);
  assert.notEqual(jobDigest('lbp border=zero', sources), jobDigest('lbp border=zero', sources.toReversed()));
  assert.notEqual(jobDigest('lbp border=zero', sources), jobDigest('lbp border=wrap', sources));
});

test('the line of a job names its pipeline, and its grid where that has several cells', () => {
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {}, border: 'zero' }]);
  const line = jobLine(pipeline, { rows: 1, columns: 1 });
  assert.match(line, /^lbp:.* border=zero$/);
  assert.equal(jobLine(pipeline, { rows: 1, columns: 2 }), `${line} grid=1x2`);
  assert.equal(jobLine(pipeline, { rows: 16, columns: 1 }), `${line} grid=16x1`);
});
