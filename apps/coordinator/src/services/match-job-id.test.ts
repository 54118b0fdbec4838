import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchJobId } from './match-job-id.ts';

const ids = ['20260202-080000-aaaaaa', '20260131-235959-0a1b2c', '20260131-120000-0a1b2d'];

test('a job is found by its whole id, and by a beginning or an ending that only its id has', () => {
  assert.equal(matchJobId('20260131-235959-0a1b2c', ids), ids[1]);
  assert.equal(matchJobId('20260131-2', ids), ids[1]);
  assert.equal(matchJobId('202602', ids), ids[0]);
  assert.equal(matchJobId('0a1b2d', ids), ids[2]);
  assert.equal(matchJobId('aaaa', ids), ids[0]);
  assert.equal(matchJobId('job', ['job-2', 'job']), 'job');
});

const refused: [given: string, among: string[], kind: string, sentence: string][] = [
  [
    '20260131',
    ids,
    'invalid',
    "'20260131' is the beginning of several ids: 20260131-235959-0a1b2c, 20260131-120000-0a1b2d",
  ],
  ['0a1b', ['1-0a1b', '2-0a1b', '3'], 'invalid', "'0a1b' is the ending of several ids: 1-0a1b, 2-0a1b"],
  ['0a1b', ['0a1b-1', '2-0a1b'], 'invalid', "'0a1b' is the beginning or the ending of several ids: 0a1b-1, 2-0a1b"],
  ['1b2c', ['2-0a1b2c-3'], 'missing', "There is no job '1b2c'; there is 2-0a1b2c-3"],
  ['2027', ids, 'missing', `There is no job '2027'; the newest are ${ids.join(', ')}`],
  // Too short to be sure, though only one id begins with it.
  [
    'job',
    ['job-2'],
    'invalid',
    "Expected at least 4 characters for the beginning or the ending of an id but received 'job'",
  ],
  ['', ['job-2'], 'invalid', "Expected at least 4 characters for the beginning or the ending of an id but received ''"],
  ['2027', ['job-2'], 'missing', "There is no job '2027'; there is job-2"],
  ['2027', [], 'missing', "There is no job '2027'"],
];

for (const [given, among, kind, sentence] of refused) {
  test(`'${given}' among ${among.length} is refused`, () => {
    assert.throws(() => matchJobId(given, among), { name: 'Refusal', kind, message: sentence });
  });
}

test('if there are many ids, some are named', () => {
  const many = Array.from({ length: 2000 }, (_, i) => `20260131-${String(i).padStart(6, '0')}-0a1b2c`);
  assert.throws(() => matchJobId('2026', many), { message: /-000004-0a1b2c and 1995 more$/ });
});
