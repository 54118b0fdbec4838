import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isInPicture, regionBetween, regionOfCells, regionText } from './region.js';

test('a region lies between two points of a picture, in any order', () => {
  const size = { width: 400, height: 300 };
  const region = { x: 100, y: 150, width: 200, height: 75 };
  assert.deepEqual(regionBetween({ x: 0.25, y: 0.5 }, { x: 0.75, y: 0.75 }, size), region);
  assert.deepEqual(regionBetween({ x: 0.75, y: 0.5 }, { x: 0.25, y: 0.75 }, size), region);
  assert.deepEqual(regionBetween({ x: -1, y: -1 }, { x: 2, y: 2 }, size), { x: 0, y: 0, ...size });
  assert.equal(regionText(region), '100,150,200x75');
});

test('the region is inside the picture for any two points', () => {
  const share = fc.double({ min: -0.5, max: 1.5, noNaN: true });
  const point = fc.record({ x: share, y: share });
  const size = fc.record({ width: fc.integer({ min: 1, max: 9000 }), height: fc.integer({ min: 1, max: 9000 }) });
  fc.assert(fc.property(point, point, size, (from, to, of) => isInPicture(regionBetween(from, to, of), of)));
});

test('regions outside a picture are recognised', () => {
  const size = { width: 40, height: 30 };
  for (const region of [
    { x: 39, y: 0, width: 2, height: 1 },
    { x: 0, y: 30, width: 1, height: 1 },
    { x: 0, y: 0, width: 0, height: 1 },
    { x: -1, y: 0, width: 1, height: 1 },
    { x: 0.5, y: 0, width: 1, height: 1 },
    { x: Number.NaN, y: 0, width: 1, height: 1 },
  ]) {
    assert.equal(isInPicture(region, size), false, regionText(region));
  }
});

test('the mark of cells is the smallest region that holds them; all cells together have no mark', () => {
  const grid = { rows: 2, columns: 4 };
  assert.deepEqual(regionOfCells([7], grid), { x: 0.75, y: 0.5, width: 0.25, height: 0.5 });
  assert.deepEqual(regionOfCells([1, 6], grid), { x: 0.25, y: 0, width: 0.5, height: 1 });
  assert.equal(regionOfCells([0, 1, 2, 3, 4, 5, 6, 7], grid), undefined);
  assert.equal(regionOfCells([0], { rows: 1, columns: 1 }), undefined);
  assert.equal(regionOfCells([], grid), undefined);
});
