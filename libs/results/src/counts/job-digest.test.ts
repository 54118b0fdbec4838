import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import { documentedDigest } from '../testing/documented-digest.ts';
import { jobDigest } from './job-digest.ts';
import { jobLine } from './job-line.ts';
import { quarantinedDigest } from './source-digest.ts';

test('a job digest is the SHA-256 of two lines and the digests of the sources in order', () => {
  const sources = [documentedDigest(2, 3, 6, [6, 0]), quarantinedDigest];
  const expected = createHash('sha256').update('halogrid digest 1\nlbp border=zero\n');
  for (const source of sources) expected.update(source);
  const digest = expected.digest('hex');
  assert.equal(jobDigest('lbp border=zero', sources), digest);
  assert.equal(jobDigest('lbp border=zero', [Buffer.concat(sources)]), digest);
  assert.notEqual(jobDigest('lbp border=zero', sources), jobDigest('lbp border=zero', sources.toReversed()));
  assert.notEqual(jobDigest('lbp border=zero', sources), jobDigest('lbp border=wrap', sources));
});

test('the line of a job names its pipeline, and its grid if that has several cells', () => {
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {}, border: 'zero' }]);
  const line = jobLine(pipeline, { rows: 1, columns: 1 });
  assert.match(line, /^lbp:.* border=zero$/);
  assert.equal(jobLine(pipeline, { rows: 1, columns: 2 }), `${line} grid=1x2`);
  assert.equal(jobLine(pipeline, { rows: 16, columns: 1 }), `${line} grid=16x1`);
});
