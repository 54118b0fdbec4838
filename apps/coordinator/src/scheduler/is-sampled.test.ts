import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSampled } from './is-sampled.ts';

const sampleOf = (jobId: string, percent: number): number[] =>
  Array.from({ length: 100_000 }, (_, shard) => shard).filter((shard) => isSampled(jobId, shard, percent));

test('a sample has its percentage of the shards, wherever in the job', () => {
  for (const jobId of ['job', '20260101-000000-abcd']) {
    assert.equal(sampleOf(jobId, 0).length, 0);
    assert.equal(sampleOf(jobId, 100).length, 100_000);
    for (const percent of [0.1, 1, 10, 50]) {
      // Five standard deviations of a fair draw.
      const share = percent / 100;
      const tolerance = 5 * Math.sqrt(100_000 * share * (1 - share));
      const sample = sampleOf(jobId, percent);
      assert.ok(Math.abs(sample.length - 100_000 * share) < tolerance, `${sample.length} are ${percent} %`);
      const firstHalf = sample.filter((shard) => shard < 50_000).length;
      assert.ok(
        Math.abs(firstHalf - sample.length / 2) < tolerance,
        `${firstHalf} of ${sample.length} in the first half`,
      );
    }
  }
});

test('a larger sample holds a smaller one, and other jobs have other samples', () => {
  const small = sampleOf('job', 1);
  const large = new Set(sampleOf('job', 2));
  assert.ok(small.every((shard) => large.has(shard)));
  const other = new Set(sampleOf('other', 1));
  assert.ok(small.filter((shard) => other.has(shard)).length < 50);
});
