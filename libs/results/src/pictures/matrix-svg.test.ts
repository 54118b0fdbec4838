import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { matrixSvg } from './matrix-svg.ts';

test('each pair of levels that occurs has a square that tells its count, and no count is lost', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 64 }), fc.integer({ min: 1, max: 4 }), (levels, offsets) => {
      const bins = BigUint64Array.from({ length: levels ** 2 }, (_, i) => BigInt(i % 7));
      const channels = Array.from({ length: offsets }, (_, i) => ({ name: `${i + 1}@0`, bins }));
      const svg = matrixSvg({ title: 'GLCM', subtitle: 'of 3 sources', channels, levels });
      const found = [...svg.matchAll(/<title>(\d+)\S* beside (\d+)\S*: (\d+) pairs/g)].map((match) => match.slice(1));
      const run = Math.ceil(levels / 32);
      const sums = new Map<string, number>();
      for (const [i, count] of bins.entries()) {
        const [row, column] = [Math.floor(i / levels), i % levels].map((level) => Math.floor(level / run) * run);
        const pair = `${row} ${column}`;
        sums.set(pair, (sums.get(pair) ?? 0) + Number(count));
      }
      const squares = [...sums].filter(([, count]) => count > 0).map(([pair, count]) => `${pair} ${count}`);
      assert.deepEqual(found.map((parts) => parts.join(' ')).sort(), Array(offsets).fill(squares).flat().sort());
      assert.equal(svg.includes('2 x 2 pairs of levels a square'), run === 2);
      assert.ok(svg.length < 200_000 * offsets);
      assert.doesNotMatch(svg, /NaN|Infinity|href|url\(/);
    }),
    { numRuns: 20 },
  );
});

test('a square is the stronger, the more pairs it has, and a matrix without pairs is drawn too', () => {
  const bins = BigUint64Array.from([100n, 1n, 0n, 50n]);
  const channels = [
    { name: '1@0', bins },
    { name: '1@90', bins: new BigUint64Array(4) },
  ];
  const svg = matrixSvg({ title: 'GLCM', subtitle: '', channels, levels: 2 });
  const strength = [...svg.matchAll(/fill-opacity="([\d.]+)"/g)].map(([, opacity]) => Number(opacity));
  assert.equal(strength.length, 3);
  assert.ok(strength[0]! > strength[2]! && strength[2]! > strength[1]! && strength[1]! > 0);
  assert.doesNotMatch(svg, /NaN|Infinity/);
});
