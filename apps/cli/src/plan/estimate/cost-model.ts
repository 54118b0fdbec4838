/**
 * What a job takes, as a sum of parts that are each known by a name: `Parts` are their seconds by the figures that the
 * program brings along. A machine and what is done on it differ from those, so each part has a factor of its own, and
 * all share one of the machine. Runs tell these factors: see fitCosts.
 */
export type Parts = Readonly<Record<string, number>>;

export interface RunRecord {
  parts: Parts;
  /** How much longer it took for what else the machine did, as far as that was seen before; at least 1. */
  slowdown: number;
  /** What the job took. */
  seconds: number;
}

export interface Prediction {
  seconds: number;
  /** The job takes this much or less, and more, in one case of twenty each, as far as the model knows. */
  lowSeconds: number;
  highSeconds: number;
}

/** Factors as logarithms, and how sure they are. */
export interface FittedCosts {
  /** Names of the parts that have a factor of their own; the machine's is before them. */
  readonly names: readonly string[];
  readonly logs: readonly number[];
  /** Covariance of `logs`. */
  readonly covariance: readonly (readonly number[])[];
}

/**
 * Standard deviations of logarithms of factors before anything was run: of machines, and of parts on one machine. With
 * these, two thirds of jobs that are of one part are within a factor of 2.2.
 */
const machineDeviation = 0.5;
const partDeviation = 0.6;

/** That of the same job run again, on a machine that does other things as well. */
const runDeviation = 0.2;

/**
 * What else the machine does changes: of a slowdown, that part of its logarithm is the deviation of what becomes of it.
 */
const slowdownDeviation = 0.5;

/** A run that is off by more than this many deviations counts as if it were less far off: the machine was busy. */
const farOff = 1.5;

const steps = 25;

/**
 * Factors that move by less than a hundredth are known: a run is off by more. To a millionth takes twice the steps
 * (measured).
 */
const settled = 0.01;

/** One twentieth of a normal distribution lies beyond. */
const twentieth = 1.645;

/**
 * The factors that agree best with the runs and with what is known before: the maximum of their probability
 * (Gauss-Newton with Huber's weights), and the curvature there as their certainty. Without runs, all factors are 1.
 */
export function fitCosts(runs: readonly RunRecord[]): FittedCosts {
  const known = runs.filter(({ parts, seconds }) => seconds > 0 && sumOf(parts) > 0);
  const names = [...new Set(known.flatMap(({ parts }) => Object.keys(parts)))].sort();
  const termsOf = termsBy(names);
  const terms = known.map(({ parts }) => termsOf(parts));
  const before = [1 / machineDeviation ** 2, ...names.map(() => 1 / partDeviation ** 2)];
  let logs = before.map(() => 0);
  let curvature = diagonal(before);
  for (let step = 0; step < steps; step++) {
    curvature = diagonal(before);
    const slope = logs.map((log, i) => -log * before[i]!);
    for (const [run, { seconds, slowdown }] of known.entries()) {
      const { expected, shares } = share(terms[run]!, logs);
      const off = Math.log(seconds / (expected * slowdown));
      const deviation = deviationOf(slowdown);
      const weight = Math.min(1, (farOff * deviation) / Math.abs(off)) / deviation ** 2;
      for (const { factor: i, share } of shares) {
        slope[i]! += weight * share * off;
        const row = curvature[i]!;
        for (const { factor: j, share: other } of shares) row[j]! += weight * share * other;
      }
    }
    const move = solve(rootOf(curvature), slope);
    // Far from the end a whole step leads too far, as shares change on the way.
    const most = Math.max(...move.map(Math.abs));
    logs = logs.map((log, i) => log + move[i]! * Math.min(1, 1 / most));
    if (most < settled) break;
  }
  const root = rootOf(curvature);
  return { names, logs, covariance: diagonal(before.map(() => 1)).map((column) => solve(root, column)) };
}

const deviationOf = (slowdown: number): number => Math.hypot(runDeviation, slowdownDeviation * Math.log(slowdown));

/** What a job of these parts takes. Parts without a run have the machine's factor alone. `slowdown` is that of now. */
export function predict(parts: Parts, costs: FittedCosts, slowdown = 1): Prediction {
  const { names, logs, covariance } = costs;
  const { expected, shares } = share(termsBy(names)(parts), logs);
  if (expected === 0) return { seconds: 0, lowSeconds: 0, highSeconds: 0 };
  let variance = deviationOf(slowdown) ** 2;
  for (const a of shares) for (const b of shares) variance += a.share * b.share * covariance[a.factor]![b.factor]!;
  for (const [name, seconds] of Object.entries(parts)) {
    if (!names.includes(name)) variance += ((Math.exp(logs[0]!) * seconds) / expected) ** 2 * partDeviation ** 2;
  }
  const spread = Math.exp(twentieth * Math.sqrt(variance));
  const seconds = expected * slowdown;
  return { seconds, lowSeconds: seconds / spread, highSeconds: seconds * spread };
}

/** How much of two jobs' time is spent on the same parts: 0 to 1. */
export function likeness(a: Parts, b: Parts): number {
  const [sumA, sumB] = [sumOf(a), sumOf(b)];
  if (sumA === 0 || sumB === 0) return 0;
  return Object.entries(a).reduce((sum, [name, seconds]) => sum + Math.min(seconds / sumA, (b[name] ?? 0) / sumB), 0);
}

/** Seconds of a part, and the place of its factor in `logs`: 0, where the machine's is, if it has none of its own. */
interface Term {
  factor: number;
  seconds: number;
}

function termsBy(names: readonly string[]): (parts: Parts) => Term[] {
  const factors = new Map(names.map((name, i) => [name, i + 1]));
  return (parts) => Object.entries(parts).map(([name, seconds]) => ({ factor: factors.get(name) ?? 0, seconds }));
}

/**
 * Seconds that are expected, and the share of each factor in them: how much more they are where it grows. Only factors
 * with a share are named, because a run has a few parts, and all runs together many.
 */
function share(terms: readonly Term[], logs: readonly number[]) {
  const machine = Math.exp(logs[0]!);
  const own = terms.map(({ factor, seconds }) => machine * (factor === 0 ? 1 : Math.exp(logs[factor]!)) * seconds);
  const expected = own.reduce((sum, seconds) => sum + seconds, 0);
  const shares = [{ factor: 0, share: 1 }];
  for (const [i, { factor }] of terms.entries()) if (factor > 0) shares.push({ factor, share: own[i]! / expected });
  return { expected, shares };
}

const sumOf = (parts: Parts): number => Object.values(parts).reduce((sum, seconds) => sum + seconds, 0);

const diagonal = (values: readonly number[]): number[][] =>
  values.map((value, i) => values.map((_, j) => (i === j ? value : 0)));

/**
 * The lower triangle whose product with its transpose is `matrix`, which is symmetric and positive definite (Cholesky).
 */
function rootOf(matrix: readonly (readonly number[])[]): number[][] {
  const root: number[][] = [];
  for (const [i, row] of matrix.entries()) {
    const here: number[] = [];
    for (let j = 0; j <= i; j++) {
      const there = j < i ? root[j]! : here;
      let rest = row[j]!;
      for (let k = 0; k < j; k++) rest -= here[k]! * there[k]!;
      here.push(j < i ? rest / there[j]! : Math.sqrt(rest));
    }
    root.push(here);
  }
  return root;
}

/** Solves `matrix` x = `right`, by the root of the matrix. */
function solve(root: readonly (readonly number[])[], right: readonly number[]): number[] {
  const x = [...right];
  for (let i = 0; i < x.length; i++) {
    for (let k = 0; k < i; k++) x[i]! -= root[i]![k]! * x[k]!;
    x[i]! /= root[i]![i]!;
  }
  for (let i = x.length - 1; i >= 0; i--) {
    for (let k = i + 1; k < x.length; k++) x[i]! -= root[k]![i]! * x[k]!;
    x[i]! /= root[i]![i]!;
  }
  return x;
}
