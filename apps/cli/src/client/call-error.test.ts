import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { HalogridError } from '@halogrid/client';
import { exitCodeOfError } from '../process/exit-code.ts';
import { callError } from './coordinator-client.ts';
import { optionOfField } from './option-of-field.ts';

const failure = (code: status, details: string): Error =>
  Object.assign(new Error(`${code} ${status[code]}: ${details}`), { code, details });

const table = [
  [status.INVALID_ARGUMENT, 'Expected X', 'Expected X', true],
  [status.NOT_FOUND, "No job 'x'", "No job 'x'", true],
  [status.FAILED_PRECONDITION, 'The output folder is in use', 'The output folder is in use', true],
  [
    status.UNAVAILABLE,
    'ECONNREFUSED',
    "No coordinator answers at h:1: is one running there ('halogrid coordinator')?",
    false,
  ],
  [status.DEADLINE_EXCEEDED, 'x', 'The coordinator at h:1 did not answer in time', false],
  [status.UNIMPLEMENTED, 'x', 'What answers at h:1 is not a coordinator of this version of halogrid', false],
  [status.INTERNAL, 'disk full', 'The coordinator at h:1 failed: disk full', false],
  [status.UNKNOWN, '', 'The coordinator at h:1 failed: UNKNOWN', false],
] as const;

for (const [code, details, sentence, isUsage] of table) {
  test(`${status[code]} becomes '${sentence}'`, () => {
    const error = callError(failure(code, details), 'h:1', optionOfField);
    assert.equal(error.message, sentence);
    assert.equal(error instanceof HalogridError && error.code, status[code]);
    assert.equal(exitCodeOfError(error), isUsage ? 2 : 1);
  });
}

test('an error of another kind stays as it is', () => {
  const error = new TypeError('x');
  assert.equal(callError(error, 'h:1', optionOfField), error);
});
