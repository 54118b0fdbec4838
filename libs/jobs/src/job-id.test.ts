import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createJobId } from './job-id.ts';

test('an id is the time and six random digits', () => {
  assert.equal(createJobId(Date.UTC(2026, 0, 31, 23, 59, 59, 999), 0), '20260131-235959-000000');
  assert.equal(createJobId(Date.UTC(2026, 0, 31, 23, 59, 59), 0.999_999_999), '20260131-235959-ffffff');
});
