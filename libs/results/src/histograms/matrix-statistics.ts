import { naturalLog } from './natural-log.ts';

/** The statistics of a matrix, in the order of their columns. */
export const statisticNames = [
  'contrast',
  'dissimilarity',
  'homogeneity',
  'asm',
  'energy',
  'correlation',
  'entropy',
] as const;

export type MatrixStatistics = Record<(typeof statisticNames)[number], number>;

/**
 * The statistics of a co-occurrence matrix of `levels` rows, as scikit-image's graycoprops defines them; undefined if
 * it has no pairs. p(i, j) is a count divided by the sum of all. All are made of additions, multiplications, divisions
 * and square roots of float64 in one order, row by row, which every machine rounds alike.
 */
export function matrixStatistics(counts: ArrayLike<number>, levels: number): MatrixStatistics | undefined {
  let pairs = 0;
  let [rows, columns] = [0, 0];
  const nonZero: { i: number; j: number; count: number }[] = [];
  for (let at = 0; at < counts.length; at++) {
    const count = counts[at]!;
    if (count === 0) continue;
    const [i, j] = [Math.floor(at / levels), at % levels];
    nonZero.push({ i, j, count });
    pairs += count;
    rows += count * i;
    columns += count * j;
  }
  if (pairs === 0) return undefined;
  const [meanRow, meanColumn] = [rows / pairs, columns / pairs];
  let [contrast, dissimilarity, homogeneity, asm, entropy] = [0, 0, 0, 0, 0];
  let [rowVariance, columnVariance, covariance] = [0, 0, 0];
  for (const { i, j, count } of nonZero) {
    const p = count / pairs;
    const distance = Math.abs(i - j);
    contrast += count * distance * distance;
    dissimilarity += count * distance;
    homogeneity += p / (1 + distance * distance);
    asm += p * p;
    entropy -= p * naturalLog(p);
    rowVariance += p * (i - meanRow) * (i - meanRow);
    columnVariance += p * (j - meanColumn) * (j - meanColumn);
    covariance += p * (i - meanRow) * (j - meanColumn);
  }
  // As in scikit-image: levels that are all the same are perfectly correlated.
  const spread = Math.sqrt(rowVariance) * Math.sqrt(columnVariance);
  return {
    contrast: contrast / pairs,
    dissimilarity: dissimilarity / pairs,
    homogeneity,
    asm,
    energy: Math.sqrt(asm),
    correlation: isConstant(rowVariance) || isConstant(columnVariance) ? 1 : covariance / spread,
    entropy,
  };
}

const isConstant = (variance: number): boolean => Math.sqrt(variance) < 1e-15;
