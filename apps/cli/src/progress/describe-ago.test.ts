import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeAgo } from './describe-ago.ts';

const table: [agoMs: number, words: string][] = [
  [-5_000, 'now'],
  [999, 'now'],
  [1_000, '1 s ago'],
  [59_999, '59 s ago'],
  [60_000, '1 min ago'],
  [3_599_999, '59 min ago'],
  [3_600_000, '1 h ago'],
  [86_399_999, '23 h ago'],
  [86_400_000, '1 d ago'],
  [86_400_000 * 400, '400 d ago'],
];

for (const [agoMs, words] of table) {
  test(`${agoMs} ms is ${words}`, () => assert.equal(describeAgo(1e12, 1e12 + agoMs), words));
}
