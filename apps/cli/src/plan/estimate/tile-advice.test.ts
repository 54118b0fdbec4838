import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tileAdvice } from './tile-advice.ts';

// An image of 4126 x 4126 pixels in tiles of 7 x 7 that read one more on each side.
const tiny = { tiles: 347_457, pixels: 17_025_393, haloPixels: 11_118_624 };

test('tiny tiles are advised against, with their number, what they cost, and a better size', () => {
  assert.equal(
    tileAdvice(tiny, { job: 0.3, tiles: 400, 'open tiff': 600, 'decode tiff': 40, cpu: 0.1 }, 7),
    'Tiles of 7 pixels make 347,457 shards: 96 % of the time goes to their number, and 40 % of what is read lies around them; ' +
      '--tile 128 gives the same results sooner',
  );
});

test('a halo that is larger than its tiles is advised against as well', () => {
  const advice = tileAdvice({ tiles: 400, pixels: 400 * 256, haloPixels: 400 * 3 * 256 }, { tiles: 1, cpu: 5 }, 16);
  assert.match(advice!, /^Tiles of 16 pixels make 400 shards: 17 % .*, and 75 % .*; --tile 128 /);
});

test('usual tiles are not spoken of, and few of them never', () => {
  assert.equal(
    tileAdvice({ tiles: 500, pixels: 500 * 2 ** 20, haloPixels: 500 * 2 ** 12 }, { tiles: 1, cpu: 5 }, 1024),
    undefined,
  );
  assert.equal(tileAdvice({ tiles: 9, pixels: 9 * 49, haloPixels: 500 }, { tiles: 1 }, 7), undefined);
});
