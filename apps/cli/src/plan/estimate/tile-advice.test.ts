import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlanTotals } from '@halogrid/coordinator/plan';
import { tileAdvice } from './tile-advice.ts';

// An image of 4126 x 4126 pixels in tiles of 7 x 7 that read one more on each side.
const totals = (tiles: number, pixels: number, haloPixels: number) =>
  ({ tiles, haloPixels, work: { kernelPixels: { u8: pixels + haloPixels, u16: 0 } } }) as PlanTotals;
const tiny = totals(347_457, 17_025_393, 11_118_624);

test('tiny tiles are advised against, with their number, what they cost, and a better size', () => {
  assert.equal(
    tileAdvice(tiny, { job: 0.3, tiles: 400, 'open tiff': 600, 'decode tiff': 40, cpu: 0.1 }, 7),
    'Tiles of 7 pixels make 347,457 shards: 96 % of the time is spent on their number, and 40 % of the pixels that are read lie around them; ' +
      '--tile 128 gives the same results sooner',
  );
});

test('a halo that is larger than its tiles is advised against as well', () => {
  const advice = tileAdvice(totals(400, 400 * 256, 400 * 3 * 256), { tiles: 1, cpu: 5 }, 16);
  assert.match(advice!, /^Tiles of 16 pixels make 400 shards: 17 % .*, and 75 % .*; --tile 128 /);
});

test('usual tiles, and few tiles of any size, get no advice', () => {
  assert.equal(tileAdvice(totals(500, 500 * 2 ** 20, 500 * 2 ** 12), { tiles: 1, cpu: 5 }, 1024), undefined);
  assert.equal(tileAdvice(totals(9, 9 * 49, 500), { tiles: 1 }, 7), undefined);
});

test('advice on a part of a plan says that there are more tiles', () => {
  const parts = { job: 0.3, tiles: 400, cpu: 0.1 };
  assert.match(tileAdvice(tiny, parts, 7, true)!, /^Tiles of 7 pixels make more than 347,457 shards: /);
});
