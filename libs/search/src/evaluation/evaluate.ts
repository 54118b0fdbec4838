import { distances } from '../distances/distance.ts';
import type { DistanceName } from '../distances/distance-names.ts';
import type { Vector } from '../distances/vector.ts';
import { IndexError } from '../store/index-error.ts';
import { areaBelow, bestPoint, type RocPoint, rocCurve } from './roc.ts';

/** An image whose class is known. */
export interface LabelledImage {
  readonly uri: string;
  readonly label: string;
  readonly vector: Vector;
}

/**
 * How well a descriptor and a distance tell classes apart. Every image is a query to all others; it is not compared
 * with itself. Rates are from 0 to 1.
 */
export interface Evaluation {
  images: number;
  classes: number;
  /** The point of the curve that is nearest to (0, 1), and its rates over all queries. */
  threshold: number;
  tpr: number;
  fpr: number;
  tp: number;
  fn: number;
  fp: number;
  tn: number;
  /** Area below the curve. */
  auc: number;
  roc: RocPoint[];
  /** Share of the queries whose best other image is of their class. */
  recognitionRate: number;
  /** Mean over the queries of the mean of the precisions at each image of their class. */
  meanAveragePrecision: number;
  /** Share of images of the query's class among the first k others. */
  precisionAt: Record<number, number>;
  /** The images in order, and for each the numbers of the best five others. */
  best: { uri: string; label: string; others: { image: number; score: number }[] }[];
}

/** The most images: their pairs are kept in memory and take 400 MB. */
export const maxImages = 10_000;

const precisionRanks = [1, 5, 10];
const shown = 5;

/**
 * Evaluates by the plain double loop of the definition. An image that is alone in its class is compared, but not a
 * query. Throws IndexError if there is no image, only one class, or no class of two images.
 */
export function evaluate(unordered: readonly LabelledImage[], name: DistanceName): Evaluation {
  if (unordered.length > maxImages) {
    throw new IndexError(`Expected at most ${maxImages} images to evaluate but received ${unordered.length}`);
  }
  // Ties are in the order of URIs.
  const images = unordered.toSorted((a, b) => (a.uri < b.uri ? -1 : 1));
  const sizes = new Map<string, number>();
  for (const { label } of images) sizes.set(label, (sizes.get(label) ?? 0) + 1);
  if (sizes.size === 0) throw new IndexError('No image counts a pixel, so there is nothing to compare');
  if (sizes.size < 2) throw new IndexError('There is one class alone, so there is nothing to tell it from');
  if (Math.max(...sizes.values()) < 2) throw new IndexError('No class has two images, so none can be found again');

  const scores = scoresOf(images, name);
  const { same, different } = pairsOf(images, scores);
  const { sense } = distances[name];
  const roc = rocCurve(same, different, sense);
  const { threshold, tpr, fpr } = bestPoint(roc);
  // Each pair is looked at from both its images.
  const [tp, fp] = [2 * Math.round(tpr * same.length), 2 * Math.round(fpr * different.length)];

  const queries = images
    .keys()
    .filter((i) => sizes.get(images[i]!.label)! > 1)
    .toArray();
  const rankings = rankingsOf(images.length, scores, sense);
  const precisions = new Map(precisionRanks.map((rank) => [rank, 0]));
  let [recognised, averagePrecisions] = [0, 0];
  for (const query of queries) {
    const isSame = rankings[query]!.map((other) => images[other]!.label === images[query]!.label);
    if (isSame[0]) recognised++;
    averagePrecisions += averagePrecision(isSame);
    for (const [rank, sum] of precisions)
      precisions.set(rank, sum + isSame.slice(0, rank).filter(Boolean).length / rank);
  }
  return {
    images: images.length,
    classes: sizes.size,
    threshold,
    tpr,
    fpr,
    tp,
    fn: 2 * same.length - tp,
    fp,
    tn: 2 * different.length - fp,
    auc: areaBelow(roc),
    roc,
    recognitionRate: recognised / queries.length,
    meanAveragePrecision: averagePrecisions / queries.length,
    precisionAt: Object.fromEntries([...precisions].map(([rank, sum]) => [rank, sum / queries.length])),
    best: images.map(({ uri, label }, i) => ({
      uri,
      label,
      others: rankings[i]!.slice(0, shown).map((image) => ({ image, score: scores[i * images.length + image]! })),
    })),
  };
}

/** The score of each image with each other, row by row. */
function scoresOf(images: readonly LabelledImage[], name: DistanceName): Float64Array {
  const scores = new Float64Array(images.length ** 2);
  for (let i = 0; i < images.length; i++) {
    for (let j = 0; j < i; j++) {
      const { value } = distances[name].score(images[i]!.vector, images[j]!.vector);
      scores[i * images.length + j] = value;
      scores[j * images.length + i] = value;
    }
  }
  return scores;
}

/** The scores of pairs of one class, and of the others, each pair once. */
function pairsOf(
  images: readonly LabelledImage[],
  scores: Float64Array,
): { same: Float64Array; different: Float64Array } {
  const [same, different]: [number[], number[]] = [[], []];
  for (let i = 0; i < images.length; i++) {
    for (let j = 0; j < i; j++)
      (images[i]!.label === images[j]!.label ? same : different).push(scores[i * images.length + j]!);
  }
  return { same: Float64Array.from(same), different: Float64Array.from(different) };
}

/** For each image the numbers of all others, the best first. */
function rankingsOf(count: number, scores: Float64Array, sense: 'similarity' | 'distance'): number[][] {
  const sign = sense === 'similarity' ? -1 : 1;
  return Array.from({ length: count }, (_, i) => {
    const others = Array.from({ length: count }, (_, j) => j).filter((j) => j !== i);
    return others.sort((a, b) => sign * (scores[i * count + a]! - scores[i * count + b]!) || a - b);
  });
}

/** The mean of the precisions at each hit: 1 if all hits come first. */
function averagePrecision(hits: readonly boolean[]): number {
  let [found, sum] = [0, 0];
  for (const [i, isHit] of hits.entries()) if (isHit) sum += ++found / (i + 1);
  return sum / found;
}
