import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BlockVerdict, judgeBlock } from './judge-block.ts';

const rows: [name: string, moved: number, certain: number, isAligned: boolean, unsettled: number, BlockVerdict][] = [
  ['nothing has moved', 0, 0, false, 0, 'parts'],
  ['some cells have changed for certain', 39, 39, false, 0, 'parts'],
  ['the view that was about to change is back', 39, 0, true, 1, 'parts'],
  ['most cells have moved within the block', 40, 0, false, 0, 'begins'],
  ['so few are certain that the block may show two views', 50, 29, false, 1, 'begins'],
  ['the first block of another view', 100, 0, true, 0, 'waits'],
  ['another view that has not settled', 100, 59, true, 3, 'waits'],
  ['two blocks show another view', 100, 60, false, 1, 'changed'],
  ['they do, and the second begins with it', 100, 60, true, 1, 'changed'],
  ['a view that never settles', 100, 0, true, 4, 'usual'],
];

for (const [name, moved, certain, isAligned, unsettled, verdict] of rows) {
  test(`${name}: ${verdict}`, () =>
    assert.equal(judgeBlock({ cells: 100, moved, certain, isAligned, unsettled }), verdict));
}
