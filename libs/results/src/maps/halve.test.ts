import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SampleType, type Size, sampleBytes } from '@halogrid/geometry';
import fc from 'fast-check';
import { type MapKind, samplesOf } from '../layout/map-type.ts';
import { anySize, halfByDefinition, sampleTypes, someSamples } from '../testing/maps.ts';
import { halve } from './halve.ts';

const anyKind = fc.constantFrom<MapKind>('labels', 'values');

test('half a plane is what the definition says, for any size and type', () => {
  fc.assert(
    fc.property(anySize(40), fc.constantFrom(...sampleTypes), anyKind, (size, sample, kind) => {
      const type = { sample, bands: 1 };
      const samples = someSamples(size, type);
      assert.deepEqual(halfOf(samples, size, sample, kind), halfByDefinition(samples, size, type, kind));
    }),
    { numRuns: 300 },
  );
});

test('means of integers are rounded to the nearest, halves to even', () => {
  const table: [sample: SampleType, four: number[], mean: number][] = [
    ['u8', [0, 0, 0, 1], 0],
    ['u8', [0, 0, 1, 1], 0],
    ['u8', [0, 1, 1, 1], 1],
    ['u8', [1, 1, 2, 2], 2],
    ['u8', [2, 2, 3, 3], 2],
    ['u8', [255, 255, 255, 255], 255],
    ['u16', [65535, 65535, 65534, 65534], 65534],
    ['u32', [2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1], 2 ** 32 - 1],
    ['i16', [-1, -1, 0, 0], 0],
    ['i16', [-1, -2, -1, -2], -2],
    ['i16', [-3, -2, -3, -2], -2],
    ['i16', [-32768, -32768, -32768, -32767], -32768],
  ];
  for (const [sample, four, mean] of table) assert.equal(meanOf(sample, four), mean, `${sample} ${four}`);
});

test('means of floats are rounded once and do not overflow, and NaN stays NaN with the same bits', () => {
  const largest = 3.4028234663852886e38;
  const table: [four: number[], mean: number][] = [
    [[1, 2, 3, 4], 2.5],
    [[largest, largest, largest, largest], largest],
    [[16777216, 1, 1, 1], Math.fround(4194304.75)],
    [[Infinity, 1, 2, 3], Infinity],
    [[-0, -0, -0, -0], -0],
  ];
  for (const [four, mean] of table) assert.ok(Object.is(meanOf('f32', four), mean), String(four));
  for (const four of [
    [Number.NaN, 1, 1, 1],
    [1, 1, 1, -Number.NaN],
    [Infinity, -Infinity, 1, 1],
  ]) {
    const half = halfOf(new Uint8Array(Float32Array.from(four).buffer), { width: 2, height: 2 }, 'f32', 'values');
    assert.deepEqual([...half], [0, 0, 0xc0, 0x7f]);
  }
});

test('the least i16 is a number like others in a map without NoData', () => {
  const four = new Uint8Array(Int16Array.of(-32768, 0, 0, 0).buffer);
  const half = new Uint8Array(2);
  halve(four, { width: 2, height: 2 }, 'i16', 'values', half);
  assert.equal(samplesOf(half, 'i16')[0], -8192);
});

test('labels keep every bit, also of a float', () => {
  const bits = Uint32Array.of(0xffa00001, 1, 2, 3);
  const half = halfOf(new Uint8Array(bits.buffer), { width: 2, height: 2 }, 'f32', 'labels');
  assert.equal(new Uint32Array(half.buffer)[0], 0xffa00001);
});

function meanOf(sample: SampleType, four: number[]): number {
  const bytes = new Uint8Array(4 * sampleBytes[sample]);
  samplesOf(bytes, sample).set(four);
  return samplesOf(halfOf(bytes, { width: 2, height: 2 }, sample, 'values'), sample)[0]!;
}

function halfOf(plane: Uint8Array, size: Size, sample: SampleType, kind: MapKind): Uint8Array {
  const half = new Uint8Array(Math.ceil(size.width / 2) * Math.ceil(size.height / 2) * sampleBytes[sample]);
  halve(plane, size, sample, kind, half, true);
  return half;
}
