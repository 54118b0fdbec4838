import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HalogridError } from '@halogrid/client';
import { ParameterError } from '@halogrid/kernels';
import { UsageError } from '@halogrid/service';
import { exitCodeOfError, exitCodeOfPlan, exitCodeOfSignal } from './exit-code.ts';

test('a plan with nothing left to compute exits 3', () => {
  const rest = { sources: 9, unknown: 0 };
  assert.equal(exitCodeOfPlan({ ...rest, quarantined: 9, shards: 0, kept: 0 }), 3);
  assert.equal(exitCodeOfPlan({ ...rest, quarantined: 1, shards: 2, kept: 0 }), 0);
  assert.equal(exitCodeOfPlan({ ...rest, quarantined: 1, shards: 0, kept: 8 }), 0);
  assert.equal(exitCodeOfPlan({ ...rest, quarantined: 0, shards: 0, kept: 0 }), 0);
});

test('wrong usage exits 2 and any other error 1', () => {
  assert.equal(exitCodeOfError(new UsageError('x')), 2);
  assert.equal(exitCodeOfError(new ParameterError('--op', 'x', 'lbp')), 2);
  assert.equal(exitCodeOfError(new HalogridError('NOT_FOUND', 'x')), 2);
  assert.equal(exitCodeOfError(new HalogridError('UNAVAILABLE', 'x')), 1);
  assert.equal(exitCodeOfError(new TypeError('x')), 1);
});

test('signals exit as a shell counts', () => {
  assert.equal(exitCodeOfSignal('SIGINT'), 130);
  assert.equal(exitCodeOfSignal('SIGTERM'), 143);
  assert.equal(exitCodeOfSignal('SIGHUP'), 129);
});
