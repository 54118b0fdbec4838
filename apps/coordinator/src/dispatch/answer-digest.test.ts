import assert from 'node:assert/strict';
import { test } from 'node:test';
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
