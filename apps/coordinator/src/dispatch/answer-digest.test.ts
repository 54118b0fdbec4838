import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SourceError, SourceResult } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { foundShard } from '@halogrid/ledger/testing-memory-parts';
import { summariseShard } from '@halogrid/results/found-shard';
import { answerDigest } from './answer-digest.ts';

const result = {
  source: 3,
  size: { width: 4, height: 5 },
  rect: { x: 0, y: 0, width: 4, height: 2 },
  counted: 7,
  bins: [1, 2, 4],
};
const answer = { results: [result], errors: [{ source: 9, stage: 'decode', error: 'It is cut off' }] };

test('answers that say the same have the same digest, however they say it', () => {
  const same = { ...structuredClone(answer), stageSeconds: { decode: 1 }, inputBytes: 3 };
  same.errors[0]!.error = 'In other words';
  assert.equal(answerDigest(same), answerDigest(answer));
});

test('whatever differs in a result shows in the digest', () => {
  const { rect, size } = result;
  const others = [
    { results: [], errors: [] },
    { results: [result], errors: [] },
    { results: [result], errors: [{ ...answer.errors[0]!, source: 8 }] },
    { results: [result, result], errors: answer.errors },
    ...[
      { source: 4 },
      { size: { ...size, width: 5 } },
      { rect: { ...rect, y: 1 } },
      { counted: 8 },
      { bins: [2, 1, 4] },
      { bins: [1, 2, 4, 0] },
    ].map((change) => ({ ...answer, results: [{ ...result, ...change }] })),
  ];
  const digests = new Set([answer, ...others].map(answerDigest));
  assert.equal(digests.size, 1 + others.length);
});

test('frames that say the same have the same digest, and whatever differs in one shows', () => {
  const size = { width: 3, height: 2 };
  const frameOf = (source: number, more: Partial<SourceResult> = {}): SourceResult => {
    return { source, size, rect: { x: 0, y: 0, ...size }, counted: 6, bins: [source, 6 - source, 0], ...more };
  };
  const shape = { grid: { rows: 1, columns: 1 }, channels: 1, bins: 3 };
  const { block } = plannedSources([1, 2, 3].map((index) => ({ index, uri: `file:///${index}` })));
  const digestOf = (results: SourceResult[], errors: SourceError[] = []): string => {
    const shapes = results.some(({ pipeline }) => pipeline) ? [shape, shape] : [shape];
    return answerDigest({ results: [], found: summariseShard(foundShard(block, results, shapes), shapes), errors });
  };
  const frames = [frameOf(1), frameOf(2)];
  const error = { source: 3, stage: 'decode', error: 'broken' };
  const digest = digestOf(frames);
  assert.equal(digestOf([frameOf(1, { captured: { localMs: 5 } }), frameOf(2)]), digest);
  assert.equal(digestOf(frames, [error]), digestOf(frames, [{ ...error, error: 'cut off' }]));
  const others = [
    digestOf(frames, [error]),
    digestOf([frameOf(1)]),
    digestOf([frameOf(1), frameOf(2, { bins: [2, 3, 1] })]),
    digestOf([frameOf(1), frameOf(2, { counted: 5 })]),
    digestOf([frameOf(1), frameOf(2, { size: { width: 2, height: 3 } })]),
    digestOf([frameOf(1), frameOf(1, { pipeline: 1 }), frameOf(2), frameOf(2, { pipeline: 1 })]),
    answerDigest({ results: frames, errors: [] }),
  ];
  assert.equal(new Set([digest, ...others]).size, 1 + others.length);
});
