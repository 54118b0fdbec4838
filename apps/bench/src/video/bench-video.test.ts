import assert from 'node:assert/strict';
import { test } from 'node:test';
import { videoTable } from './bench-video.ts';

test('one table: medians of every rate, and what end to end is of others in the same turn, some of them together', () => {
  const samples = [
    { 'FFmpeg, 2 processes': 400, 'FFmpeg with cuda': 600, 'end to end, cores': 200, 'end to end, auto': 800 },
    { 'FFmpeg, 2 processes': 200, 'FFmpeg with cuda': 600, 'end to end, cores': 150, 'end to end, auto': 700 },
    { 'FFmpeg, 2 processes': 300, 'FFmpeg with cuda': 600, 'end to end, cores': 180, 'end to end, auto': 720 },
  ];
  const ratios = [
    { whole: 'end to end, cores', bound: { name: 'FFmpeg', rates: ['FFmpeg, 2 processes'] } },
    { whole: 'end to end, auto', bound: { name: 'both', rates: ['FFmpeg, 2 processes', 'FFmpeg with cuda'] } },
  ];
  assert.equal(
    videoTable('two cores', samples, ratios),
    [
      'two cores                      median  min    max',
      'FFmpeg, 2 processes, frames/s  300     200    400',
      'FFmpeg with cuda, frames/s     600     600    600',
      'end to end, cores, frames/s    180     150    200',
      'end to end, auto, frames/s     720     700    800',
      'end to end, cores / FFmpeg     0.600   0.500  0.750',
      'end to end, auto / both        0.800   0.800  0.875',
      '',
    ].join('\n'),
  );
});
