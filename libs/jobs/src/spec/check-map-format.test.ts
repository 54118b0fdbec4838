import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImageType } from '@halogrid/geometry';
import { checkMapFormat } from './check-spec.ts';

const typeOf = (sample: ImageType['sample'], bands: number): ImageType => {
  return { sample, channels: Array.from({ length: bands }, (_, i) => String(i)) };
};

test('a PNG that cannot hold the result is refused, with the formats that can', () => {
  const table: [type: ImageType, held: string | undefined][] = [
    [typeOf('u8', 1), undefined],
    [typeOf('u8', 3), undefined],
    [typeOf('u16', 1), undefined],
    [typeOf('u8', 4), '4 bands of u8'],
    [typeOf('u16', 3), '3 bands of u16'],
    [typeOf('u32', 1), 'a band of u32'],
    [typeOf('i16', 1), 'a band of i16'],
    [typeOf('f32', 1), 'a band of f32'],
  ];
  for (const [type, held] of table) {
    for (const format of ['none', 'tiff', 'zarr']) checkMapFormat(format, { output: type, bins: 0 });
    const check = (): void => checkMapFormat('png', { output: type, bins: 0 });
    if (held === undefined) check();
    else {
      const message = `Expected tiff, zarr or none, because a PNG cannot hold ${held}, for map_format but received 'png'`;
      assert.throws(check, { name: 'Refusal', message });
    }
  }
});

test('Deep Zoom is refused for results without a histogram to scale by, and for bands that are not colours', () => {
  checkMapFormat('dzi', { output: typeOf('u8', 3), bins: 256 });
  checkMapFormat('dzi', { output: typeOf('u16', 1), bins: 4096 });
  const table: [type: ImageType, bins: number, held: string][] = [
    [typeOf('u8', 4), 256, '4 bands of u8'],
    [typeOf('f32', 1), 0, 'a band of f32'],
    [typeOf('i16', 3), 0, '3 bands of i16'],
  ];
  for (const [output, bins, held] of table) {
    const why = `because Deep Zoom shows one or three bands of codes that have a histogram, not ${held}`;
    const message = `Expected tiff, zarr or none, ${why}, for map_format but received 'dzi'`;
    assert.throws(() => checkMapFormat('dzi', { output, bins }), { name: 'Refusal', message });
  }
});
