import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultTilePx } from '@halogrid/kernels';
import { tilePxOfBands } from './tile-of-bands.ts';

const sideOf = (bands: number, mapFormat = 'none'): number =>
  tilePxOfBands({ band: { numbers: Array.from({ length: bands }, (_, i) => i + 1) }, mapFormat });

test('a tile of several bands has less than four times the samples of a tile of gray, until it is 512 wide', () => {
  assert.deepEqual(
    [1, 3, 4, 15, 16, 63, 64, 1024].map((bands) => sideOf(bands)),
    [0, 0, 2048, 2048, 1024, 1024, 512, 512],
  );
  assert.equal(tilePxOfBands({ mapFormat: 'none' }), 0);
  for (let bands = 4; bands < 256; bands++) {
    const samples = bands * sideOf(bands) ** 2;
    assert.ok(samples >= defaultTilePx ** 2 && samples < 4 * defaultTilePx ** 2, `${bands}`);
  }
});

test('nodes write whole shards of maps in Zarr, whatever the number of bands', () => {
  assert.deepEqual([sideOf(4, 'zarr'), sideOf(64, 'zarr:zstd'), sideOf(4, 'tiff')], [0, 0, 2048]);
});
