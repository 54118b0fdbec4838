import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSince } from './read-since.ts';

test('a time is an age, or a time in ISO 8601', () => {
  const nowMs = Date.UTC(2026, 0, 31, 12);
  const since = (text: string) => nowMs - readSince(text, '--since', nowMs);
  assert.deepEqual([since('90s'), since('30min'), since('2h'), since('3d')], [90e3, 1800e3, 7200e3, 259_200e3]);
  assert.equal(readSince('9999999d', '--since', nowMs), 0);
  assert.equal(readSince('2026-01-31T12:00Z', '--since'), nowMs);
  assert.equal(readSince('2026-01-31T13:00:00.500+01:00', '--since'), nowMs + 500);
  assert.equal(readSince('2026-01-31', '--since'), new Date(2026, 0, 31).getTime());
  assert.equal(readSince('2026-01-31T08:30', '--since'), new Date(2026, 0, 31, 8, 30).getTime());
  for (const text of [
    '',
    '2',
    '2m',
    '2 h',
    '-2h',
    'yesterday',
    '2026-13-01',
    '2026-01-31 12:00',
    '1969-01-01T00:00Z',
  ]) {
    assert.throws(() => readSince(text, 'since'), { name: 'UsageError', message: / for since but received '/ }, text);
  }
});
