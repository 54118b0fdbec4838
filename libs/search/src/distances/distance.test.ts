import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareScores, distances } from './distance.ts';
import { distanceNames } from './distance-names.ts';
import { massOf, type Vector } from './vector.ts';

const vectorOf = (counts: number[]): Vector => {
  const bins = Float64Array.from(counts);
  return { bins, mass: massOf(bins) };
};
// So few that sums of forty, times 64, are whole numbers that floats hold.
const count = fc.oneof(
  fc.nat({ max: 9 }),
  fc.nat({ max: 2 ** 20 }),
  fc.maxSafeNat().map((large) => large % 2 ** 40),
);
const pair = fc
  .integer({ min: 1, max: 40 })
  .chain((length) =>
    fc.tuple(
      fc.array(count, { minLength: length, maxLength: length }),
      fc.array(count, { minLength: length, maxLength: length }),
    ),
  )
  .filter((counts) => counts.every((each) => each.some((one) => one > 0)));

test('two histograms of four bins have the scores that a calculator gives', () => {
  const [a, b] = [vectorOf([1, 3, 0, 0]), vectorOf([1, 0, 1, 0])];
  // Shares 1/4 3/4 0 0 and 1/2 0 1/2 0.
  assert.deepEqual(distances.intersection.score(a, b), { value: 0.25, fraction: { numerator: 1, denominator: 4 } });
  assert.deepEqual(distances.l1.score(a, b), { value: 1.5, fraction: { numerator: 6, denominator: 4 } });
  // 1/2 (1/16 / (3/4) + 3/4 + 1/2).
  assert.equal(distances.chi2.score(a, b).value.toFixed(12), (2 / 3).toFixed(12));
  // sqrt(1 - sqrt(1/8)).
  assert.equal(distances.hellinger.score(a, b).value.toFixed(12), Math.sqrt(1 - Math.sqrt(1 / 8)).toFixed(12));
  assert.equal(distances.cosine.score(a, b).value.toFixed(12), (1 / Math.sqrt(20)).toFixed(12));
});

test('intersection and L1 are the sums of shares, as fractions of whole numbers of any size', () => {
  fc.assert(
    fc.property(pair, ([one, other]) => {
      const [a, b] = [vectorOf(one), vectorOf(other)];
      const [ours, theirs] = [BigInt(a.mass), BigInt(b.mass)];
      let [common, apart] = [0n, 0n];
      for (let i = 0; i < one.length; i++) {
        const [x, y] = [BigInt(one[i]!) * theirs, BigInt(other[i]!) * ours];
        common += x < y ? x : y;
        apart += x < y ? y - x : x - y;
      }
      for (const [name, sum] of [
        ['intersection', common],
        ['l1', apart],
      ] as const) {
        const { value, fraction } = distances[name].score(a, b);
        assert.equal(BigInt(fraction!.numerator) * ours * theirs, sum * BigInt(fraction!.denominator));
        // The value is the float nearest to the fraction; neighbouring floats are at most 2^-52 of it apart.
        assert.ok(Math.abs(value - Number(sum) / Number(ours * theirs)) <= 2 ** -50 * value);
      }
    }),
  );
});

test('every distance is symmetric, depends on shares alone, and finds nothing nearer than the same shares', () => {
  const least = { intersection: 0, chi2: 0, l1: 0, hellinger: 0, cosine: 0 };
  const most = { intersection: 1, chi2: 1, l1: 2, hellinger: 1, cosine: 1 };
  fc.assert(
    fc.property(pair, fc.integer({ min: 1, max: 64 }), ([one, other], times) => {
      const [a, b] = [vectorOf(one), vectorOf(other)];
      for (const name of distanceNames) {
        const { sense, score } = distances[name];
        const there = score(a, b);
        assert.equal(compareScores(sense, there, score(b, a)), 0, name);
        assert.ok(there.value >= least[name] && there.value <= most[name] + 1e-12, name);
        const same = score(a, vectorOf(one.map((count) => count * times)));
        // The products of cosine are rounded if counts are large.
        if (name === 'cosine') assert.ok(Math.abs(same.value - 1) < 1e-12);
        else assert.equal(same.value, sense === 'similarity' ? 1 : 0, name);
        if (name !== 'cosine') assert.ok(compareScores(sense, same, there) <= 0, name);
      }
    }),
  );
});

test('scores that print alike are told apart by their fractions', () => {
  const large = 2 ** 52;
  const query = vectorOf([large, 1]);
  const nearer = distances.intersection.score(query, vectorOf([large - 1, 1]));
  const further = distances.intersection.score(query, vectorOf([large - 2, 1]));
  assert.equal(nearer.value, further.value);
  assert.ok(compareScores('similarity', nearer, further) < 0);
  assert.ok(
    compareScores(
      'distance',
      distances.l1.score(query, vectorOf([large - 1, 1])),
      distances.l1.score(query, vectorOf([large - 2, 1])),
    ) < 0,
  );
});
