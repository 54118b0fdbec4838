import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeClock, describeDuration, describePixels, describeSpeed } from './quantities.js';

test('pixels are shown in three digits, with the letters of units', () => {
  const table: [pixels: number, text: string][] = [
    [0, '0 px'],
    [999, '999 px'],
    [1000, '1 kpx'],
    [2_073_600, '2.07 Mpx'],
    [999_999, '1 Mpx'],
    [1.5e9, '1.5 Gpx'],
    [2.4e12, '2.4 Tpx'],
  ];
  for (const [pixels, text] of table) assert.equal(describePixels(pixels), text);
});

test('a missing speed is a dash', () => {
  assert.equal(describeSpeed(0), '–');
  assert.equal(describeSpeed(37.1e6), '37.1 Mpx/s');
});

test('a time of day is in the local zone', () => {
  assert.equal(describeClock(new Date(2026, 0, 2, 3, 4, 5).getTime()), '03:04:05');
  assert.equal(describeClock(new Date(2026, 6, 2, 23, 59, 0).getTime()), '23:59:00');
});

test('durations are shown in their two largest units', () => {
  const table: [ms: number, text: string][] = [
    [-5, '0 s'],
    [400, '0 s'],
    [42_400, '42 s'],
    [60_000, '1 min'],
    [125_000, '2 min 5 s'],
    [3_600_000, '1 h'],
    [11_240_000, '3 h 7 min'],
    [187_200_000, '2 d 4 h'],
  ];
  for (const [ms, text] of table) assert.equal(describeDuration(ms), text);
});
