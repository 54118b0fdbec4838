import assert from 'node:assert/strict';
import { test } from 'node:test';
import { videoTable } from './bench-video.ts';

test('one table: medians of every rate, and what end to end is of the others in the same turn', () => {
  const samples = [
    { 'FFmpeg, 2 processes': 400, 'the kernel alone': 2000, 'end to end': 200 },
    { 'FFmpeg, 2 processes': 200, 'the kernel alone': 1000, 'end to end': 150 },
    { 'FFmpeg, 2 processes': 300, 'the kernel alone': 1500, 'end to end': 180 },
  ];
  assert.equal(
    videoTable('two cores', samples),
    [
      'two cores                         median  min    max',
      'FFmpeg, 2 processes, frames/s     300     200    400',
      'the kernel alone, frames/s        1500    1000   2000',
      'end to end, frames/s              180     150    200',
      'end to end / FFmpeg, 2 processes  0.600   0.500  0.750',
      '',
    ].join('\n'),
  );
});
