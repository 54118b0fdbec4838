import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describePixels, describeSeconds, plural } from './quantities.ts';

test('pixels are three digits and a unit', () => {
  const table: [number, string][] = [
    [0, '0 px'],
    [999, '999 px'],
    [1000, '1.00 kpx'],
    [230_400, '230 kpx'],
    [9_996_000, '10.0 Mpx'],
    [37_120_000, '37.1 Mpx'],
    [999_499_999, '999 Mpx'],
    [999_500_000, '1.00 Gpx'],
    [8.64e13, '86.4 Tpx'],
  ];
  for (const [pixels, text] of table) assert.equal(describePixels(pixels), text);
});

test('pixels read back within half a percent', () => {
  const units: Record<string, number> = { px: 1, kpx: 1e3, Mpx: 1e6, Gpx: 1e9, Tpx: 1e12 };
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 999e12 }), (pixels) => {
      const [number, unit] = describePixels(pixels).split(' ');
      assert.ok(Math.abs(Number(number) * units[unit!]! - pixels) <= pixels * 0.00501);
      assert.ok(number!.length <= 4);
    }),
  );
});

test('seconds are three digits, then minutes, then hours', () => {
  const table: [number, string][] = [
    [0, '0.00 s'],
    [0.417, '0.42 s'],
    [12.34, '12.3 s'],
    [59.94, '59.9 s'],
    [59.95, '1 min 00 s'],
    [125, '2 min 05 s'],
    [3599.6, '1 h 00 min'],
    [11_220, '3 h 07 min'],
  ];
  for (const [seconds, text] of table) assert.equal(describeSeconds(seconds), text);
});

test('one thing has no plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((n) => plural(n, 'node')),
    ['0 nodes', '1 node', '2 nodes'],
  );
});
