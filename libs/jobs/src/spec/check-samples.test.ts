import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScaleOptions } from '@halogrid/proto';
import { checkedBand, checkedScale } from './check-samples.ts';

// The command checks its options itself: this is what a request over HTTP or gRPC meets.

test('bands from 1 on are accepted, each once', () => {
  assert.equal(checkedBand({ band: undefined }), undefined);
  assert.deepEqual(checkedBand({ band: { numbers: [65535, 1] } }), { numbers: [65535, 1] });
  for (const numbers of [[], [0], [1, 65536], [2, 1, 2], Array.from({ length: 1025 }, (_, i) => i + 1)]) {
    const message = /^Expected numbers from 1 to 65535, each once and 1024 at most, for band.numbers but received '/;
    assert.throws(() => checkedBand({ band: { numbers } }), { name: 'Refusal', kind: 'invalid', message });
  }
});

test('a scale of finite values in ascending order is accepted, with 8 bits if it states none', () => {
  assert.equal(checkedScale({ scale: undefined }), undefined);
  assert.deepEqual(checkedScale({ scale: { min: 0, max: 1, bits: 0 } }), { min: 0, max: 1, bits: 8 });
  assert.deepEqual(checkedScale({ scale: { min: -1e30, max: 0, bits: 16 } }), { min: -1e30, max: 0, bits: 16 });
  const refused: ScaleOptions[] = [
    { min: 0, max: 1, bits: 12 },
    { min: 1, max: 1, bits: 8 },
    { min: 2, max: 1, bits: 8 },
    { min: Number.NaN, max: 1, bits: 8 },
    { min: 0, max: Number.POSITIVE_INFINITY, bits: 8 },
    { min: Number.NEGATIVE_INFINITY, max: 0, bits: 8 },
    { min: -1.7e308, max: 1.7e308, bits: 8 },
  ];
  for (const scale of refused) {
    const message = /^Expected two numbers, the lower one first, .* for scale but received '.*'$/;
    assert.throws(() => checkedScale({ scale }), { name: 'Refusal', kind: 'invalid', message }, JSON.stringify(scale));
  }
});
