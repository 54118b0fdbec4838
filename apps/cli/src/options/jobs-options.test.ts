import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobState } from '@halogrid/proto';
import { Command } from 'commander';
import { addJobsOptions, listRequest, readSince } from './jobs-options.ts';

function parse(...args: string[]) {
  const command = addJobsOptions(new Command().exitOverride().configureOutput({ outputError: () => {} }));
  return listRequest(command.parse(args, { from: 'user' }).opts());
}

test('without options the newest jobs are asked for, and with them those that are meant', () => {
  assert.deepEqual(parse(), { states: [], sinceMs: undefined, limit: 100 });
  assert.deepEqual(parse('--limit', '0').limit, 0);
  const { RUNNING, PENDING, FAILED } = JobState;
  assert.deepEqual(parse('--state', 'running,pending', '--state', 'failed').states, [RUNNING, PENDING, FAILED]);
  const names = 'pending, running, finalising, complete, failed, cancelled';
  for (const name of ['done', '', 'running,']) {
    assert.throws(() => parse('--state', name), {
      name: 'UsageError',
      message: `Expected one of ${names} for --state but received '${name.split(',').at(-1)}'`,
    });
  }
});

test('a time is so long ago, or one of ISO 8601', () => {
  const nowMs = Date.UTC(2026, 0, 31, 12);
  const since = (text: string) => nowMs - readSince(text, undefined, nowMs);
  assert.deepEqual([since('90s'), since('30min'), since('2h'), since('3d')], [90e3, 1800e3, 7200e3, 259_200e3]);
  assert.equal(readSince('9999999d', undefined, nowMs), 0);
  assert.equal(readSince('2026-01-31T12:00Z'), nowMs);
  assert.equal(readSince('2026-01-31T13:00:00.500+01:00'), nowMs + 500);
  assert.equal(readSince('2026-01-31'), new Date(2026, 0, 31).getTime());
  assert.equal(readSince('2026-01-31T08:30'), new Date(2026, 0, 31, 8, 30).getTime());
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
    assert.throws(() => readSince(text), { name: 'UsageError', message: / for --since but received '/ }, text);
  }
});
