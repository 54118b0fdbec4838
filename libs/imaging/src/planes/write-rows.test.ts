import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assertPlanes, type Channels, lumaOf, planes } from '../testing/images.ts';
import { splitBytes, splitFour, writeRows } from './write-rows.ts';

test('every sample goes to its place in every plane, for any size, place and gaps, and nothing else changes', () => {
  const samples = fc
    .record({ channels: fc.constantFrom<1 | 3>(1, 3), width: fc.integer({ min: 1, max: 30 }), rows: fc.nat(6) })
    .chain(({ channels, width, rows }) => {
      const length = channels * width * rows;
      // Decoders may give any part of a larger piece of memory.
      const inside = fc.tuple(fc.uint8Array({ minLength: length + 3, maxLength: length + 3 }), fc.nat(3));
      return inside.map(([memory, at]) => ({ pixels: memory.subarray(at, at + length), channels, width, rows }));
    });
  const gaps = fc.record({ before: fc.nat(5), padding: fc.nat(5), between: fc.nat(5) });
  fc.assert(
    fc.property(samples, fc.constantFrom<Channels>('gray', 'rgb'), gaps, (samples, channels, gaps) => {
      const { pixels, width, rows } = samples;
      const target = planes(width, rows, channels, gaps);
      writeRows(samples, target);
      assertPlanes(target, width, rows, (plane, x, y) => {
        const sample = (channel: number) => pixels[(y * width + x) * samples.channels + (channel % samples.channels)]!;
        return channels === 'gray' ? lumaOf(sample(0), sample(1), sample(2)) : sample(plane);
      });
    }),
    { numRuns: 1000 },
  );
});

test('six pixels, each byte another, from and to places that no word begins at', () => {
  const rgb = Uint8Array.from({ length: 20 }, (_, i) => 119 + i);
  const target = new Uint8Array(23).fill(77);
  splitBytes(rgb, 1, target, 3, 7, 6);
  const red = [120, 123, 126, 129, 132, 135];
  const green = [121, 124, 127, 130, 133, 136];
  const blue = [122, 125, 128, 131, 134, 137];
  assert.deepEqual([...target], [77, 77, 77, ...red, 77, ...green, 77, ...blue]);
});

test('four samples of each pixel go to four planes, from and to any place, and nothing else changes', () => {
  fc.assert(
    fc.property(
      fc.nat(9),
      fc.nat(5),
      fc.nat(5),
      fc.nat(3),
      fc.infiniteStream(fc.nat(255)),
      (n, from, at, gap, bytes) => {
        const samples = Uint8Array.from({ length: from + 4 * n + 1 }, () => bytes.next().value);
        const target = new Uint8Array(at + 4 * (n + gap) + 2).fill(77);
        const expected = target.slice();
        for (let i = 0; i < 4 * n; i++) expected[at + (i % 4) * (n + gap) + Math.floor(i / 4)] = samples[from + i]!;
        splitFour(samples, from, target, at, n + gap, n);
        assert.deepEqual(target, expected);
      },
    ),
  );
});
