import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { axisTicks, countScale, logarithmicTicks, scaleKind, shortCount } from './count-scale.ts';

test('the scale is logarithmic if the highest column is 20 times the middle one', () => {
  const table: [counts: number[], kind: string][] = [
    [[], 'linear'],
    [[0, 0], 'linear'],
    [[5], 'linear'],
    [[0, 0, 0, 5], 'linear'],
    [[1, 1, 19], 'linear'],
    [[1, 1, 20], 'logarithmic'],
    [[0, 0, 0, 1, 1, 20], 'logarithmic'],
  ];
  for (const [counts, kind] of table) assert.equal(scaleKind(counts), kind, String(counts));
});

test('on both scales heights rise with counts, inside the panel, and so do the ticks', () => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeNat(), { minLength: 1 }), fc.boolean(), (counts, isChosen) => {
      const kind = isChosen ? scaleKind(counts) : 'linear';
      const { part, ticks } = countScale(kind, counts);
      const parts = counts
        .filter(Boolean)
        .sort((a, b) => a - b)
        .map(part);
      assert.ok(parts.every((each, i) => each > 0 && each < 1 && each >= (parts[i - 1] ?? 0)));
      assert.ok(ticks.every((tick, i) => tick === 0 || (part(tick) >= -1e-9 && tick > (ticks[i - 1] ?? -1))));
      assert.ok(ticks.length >= 1 && ticks.length <= 9);
    }),
  );
});

test('logarithmic ticks are powers of ten, or finer if these are few', () => {
  const table: [min: number, max: number, ticks: number[]][] = [
    [0.5, 2000, [1, 10, 100, 1000]],
    [50, 1000, [50, 100, 200, 500, 1000]],
    [250, 900, [500]],
    [0.5, 2e9, [1, 100, 10_000, 1e6, 1e8]],
  ];
  for (const [min, max, ticks] of table) assert.deepEqual(logarithmicTicks(min, max), ticks);
});

test('ticks are round numbers that reach the maximum', () => {
  const table: [max: number, ticks: number[]][] = [
    [0, [0, 1]],
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [1234, [0, 500, 1000, 1500]],
    [98_000, [0, 20_000, 40_000, 60_000, 80_000, 100_000]],
  ];
  for (const [max, ticks] of table) assert.deepEqual(axisTicks(max, 5), ticks);
});

test('ticks rise evenly by whole numbers, few and not far beyond the maximum', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (max) => {
      const ticks = axisTicks(max, 5);
      const step = ticks[1]!;
      const last = ticks[ticks.length - 1]!;
      assert.ok(ticks.length >= 2 && ticks.length <= 6);
      assert.ok(ticks.every((tick, i) => tick === i * step));
      assert.ok(last >= max && last - step < Math.max(max, 1));
    }),
  );
});

test('counts are written short', () => {
  const table: [value: number, text: string][] = [
    [0, '0'],
    [750, '750'],
    [1000, '1 k'],
    [1500, '1.5 k'],
    [20_000_000, '20 M'],
    [5e15, '5 P'],
    [2e18, '2000 P'],
  ];
  for (const [value, text] of table) assert.equal(shortCount(value), text);
});
