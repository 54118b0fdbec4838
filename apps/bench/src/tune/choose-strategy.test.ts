import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseStrategy, quartilesOf } from './choose-strategy.ts';

const steady = (ms: number) => [ms, ms, ms, ms, ms];

const table: [why: string, samplesMs: number[][], chosen: number][] = [
  ['the only one', [steady(10)], 0],
  ['equal to the default', [steady(10), steady(10)], 0],
  ['2 % faster', [steady(10), steady(9.8)], 0],
  ['3 % faster', [steady(10), steady(9.7)], 1],
  ['much faster, but as unsteady', [steady(10), [5, 5, 5, 10, 10]], 0],
  ['much faster, the default unsteady', [[5, 5, 10, 10, 10], steady(5)], 0],
  [
    'much faster, one outlier each',
    [
      [10, 10, 10, 10, 30],
      [5, 5, 5, 5, 30],
    ],
    1,
  ],
  ['slower', [steady(10), steady(20)], 0],
  ['the fastest of several', [steady(10), steady(6), steady(5), steady(7)], 2],
  ['the fastest that is steady', [steady(10), steady(6), [4, 4, 4, 12, 12]], 1],
];

for (const [why, samplesMs, chosen] of table) {
  test(`${why}: strategy ${chosen} is chosen`, () => {
    assert.equal(chooseStrategy(samplesMs.map(quartilesOf)), chosen);
  });
}

test('quartiles are measured values, whatever their order', () => {
  assert.deepEqual(quartilesOf([5, 1, 4, 2, 3]), { lower: 2, median: 3, upper: 4 });
  assert.deepEqual(quartilesOf([7]), { lower: 7, median: 7, upper: 7 });
  assert.deepEqual(quartilesOf([2, 1]), { lower: 1, median: 1.5, upper: 2 });
});
