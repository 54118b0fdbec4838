import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CellRegion, countsInRegion, readRegion } from './region.ts';

const cells = (text: string): CellRegion => {
  const region = readRegion(text);
  assert.equal(region.kind, 'cells');
  return region as CellRegion;
};

const pipeline = {
  operations: [],
  grid: { rows: 2, columns: 3 },
  channels: ['gray'],
  bins: 2,
  convention: '',
  resultsVersion: 2,
};

test('a region is a cell, or all cells from one corner to the other', () => {
  const counts = Float64Array.from({ length: 12 }, (_, i) => i + 1);
  assert.deepEqual([...countsInRegion(cells('1,2'), pipeline, counts)], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 12]);
  assert.deepEqual([...countsInRegion(cells('0,1-1,2'), pipeline, counts)], [0, 0, 3, 4, 5, 6, 0, 0, 9, 10, 11, 12]);
});

test('a region of pixels has its corner and its size', () => {
  assert.deepEqual(readRegion('120,80,64x48'), { kind: 'pixels', rect: { x: 120, y: 80, width: 64, height: 48 } });
});

test('a region outside the grid is refused', () => {
  for (const text of [
    '',
    '1',
    '1,2-',
    '1,2-0,2',
    '0,2-1,1',
    '-1,0',
    'a,b',
    '1,2,3',
    '1,2,3x0',
    '1,2,-3x4',
    '1.5,2,3x4',
  ]) {
    assert.throws(
      () => readRegion(text),
      new RegExp(`^UsageError: Expected pixels as X,Y,WxH, or cells as .* but received '${text}'$`),
    );
  }
  const sentence = /^UsageError: Expected cells of a grid of 2x3 for --region but received 2,0$/;
  assert.throws(() => countsInRegion(cells('0,0-2,0'), pipeline, new Float64Array(12)), sentence);
});
