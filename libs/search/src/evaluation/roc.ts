/** A threshold, and what comes of taking the pairs whose score is at least as good for pairs of one class. */
export interface RocPoint {
  threshold: number;
  /** Share of the pairs of one class that are taken: TP / (TP + FN). */
  tpr: number;
  /** Share of the other pairs that are taken: FP / (FP + TN). */
  fpr: number;
}

/**
 * The curve of a threshold that goes from the best score to the worst, a point for each score that there is, from (0,
 * 0) on. `same` are the scores of pairs of one class, `different` those of the others; there are some of both.
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
 * The point nearest to (0, 1), where all pairs of one class are taken and no others; of equally near ones the stricter.
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
