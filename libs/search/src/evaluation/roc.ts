/**
 * A threshold, and the rates that follow if all pairs with at least as good a score are taken for pairs of one class.
 */
export interface RocPoint {
  threshold: number;
  /** Share of the pairs of one class that are taken: TP / (TP + FN). */
  tpr: number;
  /** Share of the other pairs that are taken: FP / (FP + TN). */
  fpr: number;
}

/**
 * The curve as the threshold goes from the best score to the worst: (0, 0), and a point for each distinct score.
 * `same`: the scores of pairs of one class; `different`: the scores of the other pairs. Neither is empty.
 */
export function rocCurve(same: Float64Array, different: Float64Array, sense: 'similarity' | 'distance'): RocPoint[] {
  const sign = sense === 'similarity' ? -1 : 1;
  // Typed arrays are sorted as numbers; the best come first.
  const [positives, negatives] = [same, different].map((scores) => scores.map((score) => sign * score).sort()) as [
    Float64Array,
    Float64Array,
  ];
  const points: RocPoint[] = [
    { threshold: sense === 'similarity' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY, tpr: 0, fpr: 0 },
  ];
  for (let [tp, fp] = [0, 0]; tp < positives.length || fp < negatives.length; ) {
    const score = Math.min(positives[tp] ?? Number.POSITIVE_INFINITY, negatives[fp] ?? Number.POSITIVE_INFINITY);
    while (positives[tp] === score) tp++;
    while (negatives[fp] === score) fp++;
    points.push({ threshold: sign * score, tpr: tp / positives.length, fpr: fp / negatives.length });
  }
  return points;
}

/**
 * The point nearest to (0, 1), at which all pairs of one class are taken and no others. If several are equally near,
 * the strictest.
 */
export function bestPoint(points: readonly RocPoint[]): RocPoint {
  const distance = ({ tpr, fpr }: RocPoint): number => fpr * fpr + (1 - tpr) * (1 - tpr);
  return points.reduce((best, point) => (distance(point) < distance(best) ? point : best));
}

/** The area below the curve, by trapezia: how often a pair of one class scores better than another pair. */
export function areaBelow(points: readonly RocPoint[]): number {
  let area = 0;
  for (let i = 1; i < points.length; i++) {
    const [from, to] = [points[i - 1]!, points[i]!];
    area += ((to.fpr - from.fpr) * (to.tpr + from.tpr)) / 2;
  }
  return area;
}
