import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTypes } from '../testing/maps.ts';
import { dziCanHold } from './map-format.ts';

test('codes that have a histogram are shown, gray or RGB', () => {
  const held = sampleTypes.flatMap((sample) => {
    return [1, 2, 3, 4].filter((bands) => dziCanHold({ sample, bands }, 256)).map((bands) => `${sample} x ${bands}`);
  });
  assert.deepEqual(held, ['u8 x 1', 'u8 x 3', 'u16 x 1', 'u16 x 3', 'u32 x 1', 'u32 x 3']);
  assert.equal(dziCanHold({ sample: 'u32', bands: 1 }, 0), false);
});
