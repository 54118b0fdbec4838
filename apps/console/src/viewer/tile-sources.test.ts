import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapTiles, sourceTiles } from './tile-sources.js';

test('a map has a level for each power of two, as Deep Zoom numbers them', () => {
  const map = mapTiles({ width: 30_000, height: 20_000 }, (file) => `maps/a_files/${file}`);
  assert.deepEqual([map.minLevel, map.maxLevel], [0, 15]);
  assert.equal(map.getTileUrl(15, 117, 3), 'maps/a_files/15/117_3.png');
});

test('parts of a source have the size that a tile shows, and no level asks for larger ones', () => {
  const source = sourceTiles({ width: 30_000, height: 20_000 }, String);
  assert.deepEqual([source.minLevel, source.maxLevel], [13, 15]);
  assert.equal(source.getTileUrl(15, 1, 2), 'x=512&y=1024&width=512&height=512&side=512');
  assert.equal(source.getTileUrl(13, 1, 0), 'x=2048&y=0&width=2048&height=2048&side=512');
  // 1328 x 1568 pixels are left in the corner; one level above, 238 x 238 are a quarter of 952.
  assert.equal(source.getTileUrl(13, 14, 9), 'x=28672&y=18432&width=2048&height=2048&side=392');
  const corner = sourceTiles({ width: 3000, height: 3000 }, String);
  assert.equal(corner.getTileUrl(10, 1, 1), 'x=2048&y=2048&width=2048&height=2048&side=238');
});
