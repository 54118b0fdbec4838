import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { axisTicks, shortCount } from './axis-ticks.ts';

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
