import assert from 'node:assert/strict';
import { test } from 'node:test';
import { thinOut } from './thin-out.ts';

/** Hits by their rows, the best first; ten rows are a source. */
const hits = (rows: number[]) => rows.map((row) => ({ row, cell: 0, score: { value: 1 } }));
const options = {
  sourceOf: (row: number) => `s${Math.floor(row / 10)}`,
  runOf: (row: number) => `s${Math.floor(row / 10)}`,
};
const rowsOf = (findings: { row: number; folded: number }[]) => findings.map(({ row, folded }) => [row, folded]);

test('hits near a better one of the same run are folded into it', () => {
  const ranking = hits([5, 6, 12, 4, 8, 9, 11]);
  assert.deepEqual(rowsOf(thinOut(ranking, 9, { ...options, within: 1 })), [
    [5, 2],
    [12, 1],
    [8, 1],
  ]);
  // Row 9 and 10 are neighbours of different runs.
  assert.deepEqual(rowsOf(thinOut(hits([9, 10]), 9, { ...options, within: 5 })), [
    [9, 0],
    [10, 0],
  ]);
});

test('a source has no more than its part', () => {
  assert.deepEqual(rowsOf(thinOut(hits([5, 1, 9, 12, 2, 13]), 9, { ...options, perSource: 2 })), [
    [5, 0],
    [1, 0],
    [12, 0],
    [13, 0],
  ]);
});

test('hits behind the last finding change nothing', () => {
  const few = thinOut(hits([5, 6, 12]), 2, { ...options, within: 1 });
  assert.deepEqual(few, thinOut(hits([5, 6, 12, 4, 13]), 2, { ...options, within: 1 }));
});
