import assert from 'node:assert/strict';
import { test } from 'node:test';
import { predictSplit, splitTable } from './split-table.ts';

test('a GPU that is 19 or 32 times as fast gets 950 or 970 of a thousand images, as in the report', () => {
  assert.equal(Math.round(1000 * predictSplit(1, 19).share), 950);
  assert.equal(Math.round(1000 * predictSplit(1, 32).share), 970);
});

test('both end together, and earlier than either alone', () => {
  const { ratio, share, seconds } = predictSplit(2, 6);
  assert.deepEqual({ ratio, share, seconds }, { ratio: 3, share: 0.75, seconds: 1.5 });
});

test('the table has each device alone, the prediction for both, and the run of both', () => {
  const runs = {
    device: { seconds: [2, 2.1, 1.9], frames: { gpu: 300 } },
    cpu: { seconds: [6, 6, 6], frames: { cpu: 300 } },
    both: { seconds: [1.6, 1.7, 1.75], frames: { gpu: 240, cpu: 60 } },
  };
  assert.equal(
    splitTable('gpu', 100, runs),
    [
      'nodes                        median s  min   max   frames/s  to gpu   to cpu',
      'gpu                          2.00      1.90  2.10  50        100.0 %  0.0 %',
      'cpu                          6.00      6.00  6.00  17        0.0 %    100.0 %',
      'both, predicted by R = 3.00  1.50                  67        75.0 %   25.0 %',
      'both                         1.70      1.60  1.75  59        80.0 %   20.0 %',
      '',
    ].join('\n'),
  );
});
