import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SampleType } from '@halogrid/geometry';
import fc from 'fast-check';
import { type MapType, type SampleArray, samplesOf } from '../layout/map-type.ts';
import { isMosaic } from '../layout/preview-grid.ts';
import { anyMapType, someSamples } from '../testing/maps.ts';
import { type PreviewPicture, previewPicture } from './preview-picture.ts';

const { NaN: nan, POSITIVE_INFINITY: infinity } = Number;

test('the gray of a sample depends on its type and the levels', () => {
  const table: [name: string, sample: SampleType, levels: number, values: number[], gray: number[]][] = [
    ['codes stay as they are', 'u8', 256, [0, 1, 7, 254, 255], [0, 1, 7, 254, 255]],
    ['the largest of 10 labels is white', 'u8', 10, [0, 1, 3, 9], [0, 28, 85, 255]],
    ['labels do not depend on which of them occur', 'u8', 10, [0, 1, 3, 3], [0, 28, 85, 85]],
    ['wide labels likewise', 'u16', 555, [0, 277, 554], [0, 128, 255]],
    ['without levels the largest sample is white', 'u32', 0, [0, 2 ** 31, 2 ** 32 - 1], [0, 128, 255]],
    ['an empty result is black', 'u32', 0, [0, 0], [0, 0]],
    ['one label is black', 'u8', 1, [0, 0], [0, 0]],
    ['signed samples go from the smallest to the largest', 'i16', 0, [-32767, 0, 32767], [0, 128, 255]],
    ['the least signed sample stands for no value', 'i16', 0, [-32768, 2, 4], [0, 0, 255]],
    ['and so do floating ones', 'f32', 0, [-1, -0.5, 0, 1], [0, 64, 128, 255]],
    ['zero is mid-gray between values of both signs', 'f32', 0, [-1, -0.5, 0, 2], [64, 96, 128, 255]],
    ['few negative values among others leave black to the least', 'f32', 0, [-1, 0, 4, 9], [0, 26, 128, 255]],
    ['a constant result is mid-gray', 'f32', 0, [3.5, 3.5], [128, 128]],
    ['what is not a number is black', 'f32', 0, [nan, 2, 4], [0, 0, 255]],
    ['infinite samples clamp', 'f32', 0, [-infinity, infinity, 2, 3, 4], [0, 255, 0, 128, 255]],
    ['nothing finite at all', 'f32', 0, [nan, infinity, -infinity], [0, 255, 0]],
    ['the widest range', 'f32', 0, [-3.4e38, 0, 3.4e38], [0, 128, 255]],
  ];
  for (const [name, sample, levels, values, gray] of table) {
    const picture = draw(values, { width: values.length, height: 1 }, { sample, bands: 1 }, levels);
    assert.deepEqual([...picture.pixels], gray, name);
    assert.deepEqual([picture.width, picture.height, picture.channels], [values.length, 1, 1]);
  }
});

test('one outlier does not make all others gray', () => {
  const values = Array.from({ length: 300 }, (_, i) => (i === 17 ? 1e6 : i % 100));
  const { pixels } = draw(values, { width: 300, height: 1 }, { sample: 'f32', bands: 1 }, 0);
  assert.deepEqual([pixels[0], pixels[50], pixels[99], pixels[17]], [0, 129, 255, 255]);
});

test('three bands are red, green and blue, normalised together', () => {
  const picture = draw([0, 1, 2, 3, 4, 10], { width: 2, height: 1 }, { sample: 'f32', bands: 3 }, 0);
  assert.deepEqual(picture, { width: 2, height: 1, channels: 3, pixels: Uint8Array.of(0, 51, 102, 26, 77, 255) });
});

test('four bands come in reading order with a white gap between them', () => {
  const picture = draw([1, 2, 3, 4], { width: 1, height: 1 }, { sample: 'u8', bands: 4 }, 256);
  const gap = [255, 255, 255, 255];
  const empty = [255, ...gap, 255];
  const rows = [[1, ...gap, 2], empty, empty, empty, empty, [3, ...gap, 4]];
  assert.deepEqual(picture, { width: 6, height: 6, channels: 1, pixels: Uint8Array.from(rows.flat()) });
});

test('of six bands, three are in a row, and a place without a band is white', () => {
  const six = draw([1, 2, 3, 4, 5, 6], { width: 1, height: 1 }, { sample: 'u8', bands: 6 }, 256);
  assert.deepEqual([six.width, six.height, six.pixels[5], six.pixels.at(-1)], [11, 6, 2, 6]);
  const five = draw([1, 2, 3, 4, 5], { width: 1, height: 1 }, { sample: 'u8', bands: 5 }, 256);
  assert.deepEqual([five.width, five.height, five.pixels.at(-1)], [11, 6, 255]);
});

test('every picture has as many pixels as its size says', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), anyMapType, (width, height, type) => {
      const size = { width, height };
      const picture = previewPicture(someSamples(size, type), size, type, 0);
      assert.equal(picture.pixels.length, picture.width * picture.height * picture.channels);
      assert.equal(picture.channels, type.bands === 3 ? 3 : 1);
      assert.equal(picture.width, isMosaic(type.bands) ? 2 * width + 4 : width);
    }),
  );
});

function draw(
  values: number[],
  size: { width: number; height: number },
  type: MapType,
  levels: number,
): PreviewPicture {
  const bytes = new Uint8Array(values.length * 4);
  const samples: SampleArray = samplesOf(bytes, type.sample);
  samples.set(values);
  return previewPicture(bytes.subarray(0, values.length * samples.BYTES_PER_ELEMENT), size, type, levels);
}
