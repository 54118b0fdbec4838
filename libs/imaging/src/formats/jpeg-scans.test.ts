import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixtureBytes } from '../testing/images.ts';
import { isOfOneScan } from './jpeg-scans.ts';

test('progressive JPEGs have several scans, and baseline ones of any kind have one', () => {
  for (const name of [
    '420.jpg',
    '440.jpg',
    'gray.jpg',
    'rgb.jpg',
    'cmyk.jpg',
    'arithmetic.jpg',
    'restart.jpg',
    '1x1.jpg',
  ]) {
    assert.equal(isOfOneScan(fixtureBytes(name)), true, name);
  }
  assert.equal(isOfOneScan(fixtureBytes('progressive.jpg')), false);
});

test('a baseline JPEG whose components come one after another has several scans', () => {
  const jpeg = fixtureBytes('420.jpg');
  const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  jpeg[scan + 4] = 1;
  assert.equal(isOfOneScan(jpeg), false);
});

test('what ends before its first scan has none', () => {
  const jpeg = fixtureBytes('420.jpg');
  const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  for (const end of [0, 1, 2, 20, scan]) assert.equal(isOfOneScan(jpeg.subarray(0, end)), false, String(end));
});
