import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImageType } from '@halogrid/kernels';
import { checkMapFormat } from './check-map-format.ts';

const typeOf = (sample: ImageType['sample'], bands: number): ImageType => {
  return { sample, channels: Array.from({ length: bands }, (_, i) => String(i)) };
};

test('a PNG is refused where it cannot hold the result, with what is asked for instead', () => {
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
    for (const format of ['none', 'tiff']) checkMapFormat(format, type);
    const check = (): void => checkMapFormat('png', type);
    if (held === undefined) check();
    else {
      const message = `Expected tiff or none, because a PNG cannot hold ${held}, for map_format but received 'png'`;
      assert.throws(check, { name: 'Refusal', message });
    }
  }
});
