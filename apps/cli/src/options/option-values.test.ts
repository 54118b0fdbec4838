import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@halogrid/service';
import fc from 'fast-check';
import { collect, duration, moment, momentToCome, parseWord, seconds, size, wholeNumber } from './option-values.ts';

test('whole numbers in the range are accepted, everything else is refused', () => {
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

test('a word that is not allowed is refused with a list of the allowed words', () => {
  const parse = parseWord('--device', ['cpu', 'gpu']);
  assert.equal(parse('gpu'), 'gpu');
  assert.throws(() => parse('tpu'), new UsageError("Expected one of cpu, gpu for --device but received 'tpu'"));
});

test('a repeated option collects its values in order', () => {
  assert.deepEqual(collect('b', collect('a', undefined)), ['a', 'b']);
});

test('moments have their zone', () => {
  const since = moment('--since');
  assert.equal(since('2026-01-31T08:00Z'), Date.UTC(2026, 0, 31, 8));
  assert.equal(since('2026-01-31T08:00:01.5+01:00'), Date.UTC(2026, 0, 31, 7, 0, 1, 500));
  for (const text of ['2026-01-31', '2026-01-31T08:00', '2026-13-31T08:00Z', 'yesterday', '']) {
    assert.throws(
      () => since(text),
      new RegExp(`^UsageError: Expected a moment with its zone.* but received '${text}'$`),
    );
  }
});

test('moments to come have their zone, or count from 1970 or from now', () => {
  const until = momentToCome('--until', () => 1_000);
  assert.equal(until('2026-01-31T08:00Z'), Date.UTC(2026, 0, 31, 8));
  assert.equal(until('@1769846400'), Date.UTC(2026, 0, 31, 8));
  assert.equal(until('1.5h'), 5_401_000);
  for (const text of ['', '90', '2026-01-31T08:00', '@', '@1.5', 'tomorrow', '08:00']) {
    assert.throws(() => until(text), new RegExp(`^UsageError: Expected a moment .* but received '${text}'$`));
  }
});

test('sizes have their unit', () => {
  const parse = size('--credit');
  const taken = { '512M': 2 ** 29, '1.5GiB': 1.5 * 2 ** 30, '2g': 2 ** 31, '1KB': 1024, '8T': 8 * 2 ** 40 };
  for (const [text, bytes] of Object.entries(taken)) assert.equal(parse(text), bytes, text);
  for (const text of ['', '0M', '512', '-1M', '1 G', '1e3M', '0.0001K', '999999999T']) {
    assert.throws(() => parse(text), new RegExp(`^UsageError: Expected a size above 0 .* but received '${text}'$`));
  }
});

test('a duration in seconds needs no unit', () => {
  const parse = seconds('--drain-timeout');
  assert.deepEqual(['0', '25', '25s', '10m'].map(parse), [0, 25_000, 25_000, 600_000]);
  assert.throws(() => parse('25.5'), / for --drain-timeout but received '25\.5'$/);
});

test('durations have their unit, and 0 needs none', () => {
  const parse = duration('--grace');
  const taken: Record<string, number> = {
    '0': 0,
    '0s': 0,
    '90s': 90_000,
    '1.5h': 5_400_000,
    '10m': 600_000,
    '2d': 172_800_000,
  };
  for (const [text, ms] of Object.entries(taken)) assert.equal(parse(text), ms, text);
  for (const text of ['', '5', '10 m', '1h30m', '-1s', '1.s', '10min', '1e3s', 'forever'])
    assert.throws(
      () => parse(text),
      new RegExp(`such as 90s, 10m, 1h or 2d, or 0, for --grace but received '${text}'$`),
    );
});
