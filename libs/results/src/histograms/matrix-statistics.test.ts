import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { matrixStatistics, statisticNames } from './matrix-statistics.ts';
import { naturalLog } from './natural-log.ts';

// What graycomatrix and graycoprops of scikit-image make of photographs.
const expected = new URL('../../../kernels/oracle/expected/', import.meta.url);
for (const file of readdirSync(expected)) {
  const { image, glcm } = JSON.parse(readFileSync(new URL(file, expected), 'utf8'));
  test(`the statistics of the matrices of ${image} are as in scikit-image`, () => {
    for (const { levels, matrices, statistics } of glcm) {
      for (const [i, matrix] of matrices.entries()) {
        const ours = matrixStatistics(matrix, levels)!;
        assert.deepEqual(Object.keys(ours), [...statisticNames]);
        for (const name of statisticNames) {
          const theirs = statistics[i][name];
          assert.ok(
            Math.abs(ours[name] - theirs) <= 1e-12 * Math.max(1, Math.abs(theirs)),
            `${name} is ${ours[name]}, not ${theirs}`,
          );
        }
      }
    }
  });
}

test('a matrix without pairs has no statistics, and one of a single level is perfectly correlated', () => {
  assert.equal(matrixStatistics(new Float64Array(64), 8), undefined);
  assert.deepEqual(matrixStatistics([0, 0, 0, 5], 2), {
    contrast: 0,
    dissimilarity: 0,
    homogeneity: 1,
    asm: 1,
    energy: 1,
    correlation: 1,
    entropy: 0,
  });
});

test('a chessboard has the largest contrast', () => {
  const found = matrixStatistics([0, 8, 8, 0], 2);
  const entropy = naturalLog(2);
  const [contrast, dissimilarity, homogeneity, asm, correlation] = [1, 1, 0.5, 0.5, -1];
  const energy = Math.sqrt(0.5);
  assert.deepEqual(found, { contrast, dissimilarity, homogeneity, asm, energy, correlation, entropy });
});

test('the logarithm is that of the engine within two units of the last place', () => {
  fc.assert(
    fc.property(fc.double({ min: 2 ** -80, max: 2 ** 80, noNaN: true }), (value) => {
      const theirs = Math.log(value);
      assert.ok(Math.abs(naturalLog(value) - theirs) <= 2 * Number.EPSILON * Math.abs(theirs), `${value}`);
    }),
  );
});

test('logarithms that are known', () => {
  for (const [value, log] of [
    [0.5, -Math.LN2],
    [1, 0],
    [1 / 3, -1.0986122886681098],
    [0.1, -Math.LN10],
  ] as const) {
    assert.ok(Math.abs(naturalLog(value) - log) <= Number.EPSILON * Math.abs(log));
  }
});
