import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { addJobsOptions } from './jobs-options.ts';

function parse(...args: string[]) {
  const command = addJobsOptions(new Command().exitOverride().configureOutput({ outputError: () => {} }));
  return command.parse(args, { from: 'user' }).opts();
}

test('options choose jobs; without options, the newest are listed', () => {
  assert.deepEqual(parse(), { limit: 100 });
  assert.deepEqual(parse('--limit', '0').limit, 0);
  assert.deepEqual(parse('--state', 'running,pending', '--state', 'failed').state, ['running', 'pending', 'failed']);
  assert.equal(parse('--since', '2026-01-31T12:00Z').since, Date.UTC(2026, 0, 31, 12));
  assert.throws(() => parse('--since', 'yesterday'), {
    name: 'UsageError',
    message: / for --since but received 'yesterday'$/,
  });
  const names = 'pending, running, finalising, complete, failed, cancelled';
  for (const name of ['done', '', 'running,']) {
    assert.throws(() => parse('--state', name), {
      name: 'UsageError',
      message: `Expected one of ${names} for --state but received '${name.split(',').at(-1)}'`,
    });
  }
});
