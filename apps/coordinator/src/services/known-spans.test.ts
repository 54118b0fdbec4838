import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownSpans } from './known-spans.ts';

test('only possible spans are kept, and one for each stage', () => {
  const decode = { stage: 'decode', from: 0.5, to: 1 };
  const spans = [
    decode,
    { stage: 'decode', from: 0, to: 9 },
    { stage: 'read', from: 2, to: 1 },
    { stage: 'encode', from: -1, to: 1 },
    { stage: 'device', from: 0, to: Number.NaN },
    { stage: 'sleep', from: 0, to: 1 },
    { stage: 'shard', from: 0, to: Number.POSITIVE_INFINITY },
  ];
  assert.deepEqual(knownSpans({ spans }), [decode]);
  assert.deepEqual(knownSpans(undefined), []);
});
