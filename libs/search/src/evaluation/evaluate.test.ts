import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { massOf } from '../distances/vector.ts';
import { evaluate } from './evaluate.ts';
import { areaBelow, bestPoint, rocCurve } from './roc.ts';

const image = (uri: string, label: string, counts: number[]) => {
  const bins = Float64Array.from(counts);
  return { uri, label, vector: { bins, mass: massOf(bins) } };
};

test('five images of two classes have the rates that are counted by hand', () => {
  // Shares of the first bin: a 0.9 0.8 0.3, b 0.1 0.2. The L1 distance of two is twice the difference.
  const images = [
    image('1', 'a', [9, 1]),
    image('2', 'a', [8, 2]),
    image('3', 'a', [3, 7]),
    image('4', 'b', [1, 9]),
    image('5', 'b', [2, 8]),
  ];
  const found = evaluate(images, 'l1');
  // Pairs of one class: 0.2 1.2 1.0, 0.2; of two: 1.6 1.4 1.4 1.2 0.4 0.2. At 0.2 half of the first are taken, and one
  // of the others; at 0.4 one more; at 1.0 three of four, at 1.2 all of them, and three of six.
  assert.deepEqual([found.threshold, found.tpr, found.fpr], [1, 0.75, 1 / 3]);
  assert.deepEqual([found.tp, found.fn, found.fp, found.tn], [6, 2, 4, 8]);
  // The nearest of 3 are 5, 4, 2, 1: images of its class come third and fourth. To 5, 3 and 4 are equally near, and 3
  // comes first.
  assert.equal(found.recognitionRate, 3 / 5);
  const averages = [(1 + 1) / 2, (1 + 1) / 2, (1 / 3 + 2 / 4) / 2, 1, 1 / 2];
  assert.equal(found.meanAveragePrecision.toFixed(12), (averages.reduce((a, b) => a + b) / 5).toFixed(12));
  assert.equal(found.precisionAt[1], 3 / 5);
  assert.equal(found.precisionAt[5]!.toFixed(12), ((3 * 2 + 2 * 1) / 5 / 5).toFixed(12));
  assert.deepEqual(
    found.best[4]!.others.map(({ image }) => image),
    [2, 3, 1, 0],
  );
});

test('the area below the curve is how often a pair of one class scores better, and half of how often they are equal', () => {
  const scores = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(
      scores,
      scores,
      fc.constantFrom('similarity' as const, 'distance' as const),
      (same, different, sense) => {
        const curve = rocCurve(Float64Array.from(same), Float64Array.from(different), sense);
        let better = 0;
        for (const one of same) {
          for (const other of different)
            better += one === other ? 0.5 : one > other === (sense === 'similarity') ? 1 : 0;
        }
        assert.ok(Math.abs(areaBelow(curve) - better / same.length / different.length) < 1e-9);
        const isTaken = (score: number, threshold: number): boolean =>
          sense === 'similarity' ? score >= threshold : score <= threshold;
        for (const { threshold, tpr, fpr } of curve) {
          assert.equal(tpr, same.filter((score) => isTaken(score, threshold)).length / same.length);
          assert.equal(fpr, different.filter((score) => isTaken(score, threshold)).length / different.length);
        }
        const { tpr, fpr } = bestPoint(curve);
        for (const point of curve) assert.ok(fpr ** 2 + (1 - tpr) ** 2 <= point.fpr ** 2 + (1 - point.tpr) ** 2);
      },
    ),
  );
});

test('an image that is alone in its class is not a query, and classes that cannot be told apart are refused', () => {
  const images = [image('1', 'a', [9, 1]), image('2', 'a', [8, 2]), image('3', 'b', [9, 1])];
  const { recognitionRate, classes, precisionAt } = evaluate(images, 'intersection');
  // The nearest of 1 is 3, of another class; that of 2 is 1, by its URI.
  assert.deepEqual([recognitionRate, classes, precisionAt[1]], [0.5, 2, 0.5]);
  assert.throws(() => evaluate([], 'chi2'), /^Error: No image counts a pixel, so there is nothing to compare$/);
  assert.throws(() => evaluate(images.slice(0, 2), 'chi2'), /^Error: There is one class alone/);
  assert.throws(() => evaluate(images.slice(1), 'chi2'), /^Error: No class has two images/);
});
