import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobState, type JobsQuery } from '@halogrid/proto';
import { messageOf, readQuery } from '@halogrid/proto/json';
import { readJobsQuery } from './jobs-query.ts';

const nowMs = Date.UTC(2026, 0, 31, 12);
const read = (query: string) =>
  readJobsQuery(readQuery<JobsQuery>(messageOf('JobsQuery'), new URLSearchParams(query)), nowMs);

test("a query chooses jobs as the program's options do; an empty query chooses all", () => {
  assert.deepEqual(read(''), { states: [], sinceMs: undefined, limit: 0, owner: undefined, mine: false });
  const { RUNNING, FAILED, COMPLETE } = JobState;
  assert.deepEqual(read('state=running,failed&state=complete&since=2h&limit=5&owner=ann&mine=true'), {
    states: [RUNNING, FAILED, COMPLETE],
    sinceMs: nowMs - 7_200_000,
    limit: 5,
    owner: 'ann',
    mine: true,
  });
  assert.equal(read('since=2026-01-31T13:00%2B01:00').sinceMs, nowMs);
});

test('a query that is not valid is refused', () => {
  for (const [query, message] of [
    [
      'state=done',
      "Expected one of pending, running, finalising, complete, failed, cancelled for state but received 'done'",
    ],
    ['state=', /^Expected one of .* for state but received ''$/],
    ['since=yesterday', /^Expected a time such as .* for since but received 'yesterday'$/],
    ['limit=-1', "Expected a whole number for limit but received '-1'"],
    ['limit=1000001', / for limit but received '1000001'$/],
    ['states=running', "Expected one of state, since, limit, owner, mine for a parameter but received 'states'"],
  ] as const) {
    assert.throws(() => read(query), { message }, query);
  }
});
