import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ScaleLimits, type ScaleRun, scaleTable, whatBinds } from './scale-table.ts';

const limits: ScaleLimits = { readsPerSecond: 20_000, decodesPerSecond: 5000 };
const boundBy = 'the device: it had work for 1.5 s of 1.6 s and was busy for 90 %';
const run = (gpus: number, ...framesPerSecond: number[]): ScaleRun => ({ gpus, framesPerSecond, boundBy });

test('one table: rates, the ratio to perfect scaling, and what binds', () => {
  const runs = [run(1, 1300, 1250, 1200), run(2, 2400, 2400, 2300), run(4, 4600, 4500, 4750)];
  assert.equal(
    scaleTable(runs, limits),
    [
      'GPUs  frames/s  min   max   of perfect scaling  bound by',
      `1     1250      1200  1300  1.000               ${boundBy}`,
      `2     2400      2300  2400  0.960               ${boundBy}`,
      '4     4600      4500  4750  0.920               decode cores: 0.92 of decoding alone',
      '',
    ].join('\n'),
  );
});

test('perfect scaling is over the smallest number of GPUs that was run', () => {
  const [, two, eight] = scaleTable([run(2, 2000), run(8, 6000)], limits).split('\n');
  assert.match(two!, /^2 +2000 .* 1\.000 /);
  assert.match(eight!, /^8 +6000 .* 0\.750 /);
});

const table: [string, number, ScaleLimits, string][] = [
  ['near to decoding alone', 4250, limits, 'decode cores: 0.85 of decoding alone'],
  ['near to reading alone', 900, { readsPerSecond: 1000, decodesPerSecond: 5000 }, 'disk: 0.90 of reading alone'],
  [
    'nearer to reading than to decoding',
    950,
    { readsPerSecond: 1000, decodesPerSecond: 1100 },
    'disk: 0.95 of reading alone',
  ],
  ['recordings, near to decoding alone', 950, { decodesPerSecond: 1000 }, 'decode cores: 0.95 of decoding alone'],
  ['nothing to decode', 100, { readsPerSecond: 1000 }, boundBy],
  ['faster than reading alone was', 1300, { readsPerSecond: 1000 }, boundBy],
  ['nothing is known', 100, {}, boundBy],
];

for (const [name, rate, bounds, expected] of table) {
  test(`what binds: ${name}`, () => assert.equal(whatBinds(run(1, rate), bounds), expected));
}
