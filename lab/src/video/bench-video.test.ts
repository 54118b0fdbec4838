import assert from 'node:assert/strict';
import { test } from 'node:test';
import { videoTable } from './bench-video.ts';

test('the table has medians of the measurements, and ratios within each turn by rates and by cores', () => {
  const samples = [
    { FFmpeg: { rate: 400, coresMs: 4 }, 'end to end, cores': { rate: 200, coresMs: 5 }, pool: { rate: 100 } },
    { FFmpeg: { rate: 200, coresMs: 6 }, 'end to end, cores': { rate: 150, coresMs: 8 }, pool: { rate: 100 } },
    { FFmpeg: { rate: 300, coresMs: 5 }, 'end to end, cores': { rate: 180, coresMs: 10 }, pool: { rate: 100 } },
  ];
  const ratios = [
    { whole: 'end to end, cores', bound: 'FFmpeg' },
    { whole: 'end to end, cores', bound: 'pool' },
  ];
  assert.equal(
    videoTable('two cores', samples, ratios),
    [
      'two cores                               median  min    max',
      'FFmpeg, frames/s                        300     200    400',
      'end to end, cores, frames/s             180     150    200',
      'pool, frames/s                          100     100    100',
      'FFmpeg, ms of cores a frame             5.00    4.00   6.00',
      'end to end, cores, ms of cores a frame  8.00    5.00   10.00',
      'end to end, cores / FFmpeg              0.600   0.500  0.750',
      'end to end, cores / pool                1.800   1.500  2.000',
      'end to end, cores / FFmpeg, by cores    0.750   0.500  0.800',
      '',
    ].join('\n'),
  );
});
