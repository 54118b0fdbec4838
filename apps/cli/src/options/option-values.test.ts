import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@halogrid/service';
import fc from 'fast-check';
import { ascendingCounts, collect, oneOf, wholeNumber } from './option-values.ts';

test('whole numbers in the range are taken and all else is refused', () => {
  const parse = wholeNumber('--n', 1, 64);
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: -100, max: 200 }).map(String), fc.string(), fc.double().map(String)),
      (text) => {
        if (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 64) assert.equal(parse(text), Number(text));
        else assert.throws(() => parse(text), UsageError);
      },
    ),
  );
});

test('a word that is not allowed is refused with those that are', () => {
  const parse = oneOf('--device', ['cpu', 'gpu']);
  assert.equal(parse('gpu'), 'gpu');
  assert.throws(() => parse('tpu'), new UsageError("Expected one of cpu, gpu for --device but received 'tpu'"));
});

test('numbers that ascend are taken and all else is refused', () => {
  const parse = ascendingCounts('--gpus', 64);
  for (const [text, counts] of [
    ['1', [1]],
    ['1,2,4,8', [1, 2, 4, 8]],
    ['3,64', [3, 64]],
  ] as const)
    assert.deepEqual(parse(text), counts);
  for (const text of ['', '0', '2,1', '1,1', '1,,2', '1,65', '1, 2', '1.5', '-1'])
    assert.throws(() => parse(text), UsageError, text);
});

test('a repeated option collects its values in order', () => {
  assert.deepEqual(collect('b', collect('a', undefined)), ['a', 'b']);
});
