/**
 * What a job takes, as a sum of parts that are each known by a name: `Parts` are their seconds by the figures that the program
 * brings along. A machine and what is done on it differ from those, so each part has a factor of its own, and all share one of the
 * machine. Runs tell these factors: see fitCosts.
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
 * Standard deviations of logarithms of factors before anything was run: of machines, and of parts on one machine. With these, two
 * thirds of jobs that are of one part are within a factor of 2.2.
 */
const machineDeviation = 0.5;
const partDeviation = 0.6;

/** That of the same job run again, on a machine that does other things as well. */
const runDeviation = 0.2;

/** What else the machine does changes: of a slowdown, that part of its logarithm is the deviation of what becomes of it. */
const slowdownDeviation = 0.5;

/** A run that is off by more than this many deviations counts as if it were less far off: the machine was busy. */
const farOff = 1.5;

const steps = 25;

/** One twentieth of a normal distribution lies beyond. */
const twentieth = 1.645;

/**
 * The factors that agree best with the runs and with what is known before: the maximum of their probability (Gauss-Newton with
 * Huber's weights), and the curvature there as their certainty. Without runs, all factors are 1.
 */
export function fitCosts(runs: readonly RunRecord[]): FittedCosts {
  const known = runs.filter(({ parts, seconds }) => seconds > 0 && sumOf(parts) > 0);
  const names = [...new Set(known.flatMap(({ parts }) => Object.keys(parts)))].sort();
  const before = [1 / machineDeviation ** 2, ...names.map(() => 1 / partDeviation ** 2)];
  let logs = before.map(() => 0);
  let curvature = diagonal(before);
  for (let step = 0; step < steps; step++) {
    curvature = diagonal(before);
    const slope = logs.map((log, i) => -log * before[i]!);
    for (const { parts, seconds, slowdown } of known) {
      const { expected, shares } = share(parts, names, logs);
      const off = Math.log(seconds / (expected * slowdown));
      const deviation = deviationOf(slowdown);
      const weight = Math.min(1, (farOff * deviation) / Math.abs(off)) / deviation ** 2;
      for (const [i, share] of shares.entries()) {
        if (share === 0) continue;
        slope[i]! += weight * share * off;
        for (const [j, other] of shares.entries()) curvature[i]![j]! += weight * share * other;
      }
    }
    const move = solve(curvature, slope);
    // Far from the end a whole step leads too far, as shares change on the way.
    const most = Math.max(...move.map(Math.abs));
    logs = logs.map((log, i) => log + move[i]! * Math.min(1, 1 / most));
    if (most < 1e-6) break;
  }
  return { names, logs, covariance: invert(curvature) };
}

const deviationOf = (slowdown: number): number => Math.hypot(runDeviation, slowdownDeviation * Math.log(slowdown));

/** What a job of these parts takes. Parts without a run have the machine's factor alone. `slowdown` is that of now. */
export function predict(parts: Parts, costs: FittedCosts, slowdown = 1): Prediction {
  const { names, logs, covariance } = costs;
  const { expected, shares } = share(parts, names, logs);
  if (expected === 0) return { seconds: 0, lowSeconds: 0, highSeconds: 0 };
  let variance = deviationOf(slowdown) ** 2;
  for (const [i, a] of shares.entries()) for (const [j, b] of shares.entries()) variance += a * b * covariance[i]![j]!;
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

/** Seconds that are expected, and the share of each name in them: how much more they are where its factor grows. */
function share(parts: Parts, names: readonly string[], logs: readonly number[]) {
  const machine = Math.exp(logs[0]!);
  const own = names.map((name, i) => machine * Math.exp(logs[i + 1]!) * (parts[name] ?? 0));
  const others = Object.entries(parts).filter(([name]) => !names.includes(name));
  const expected = others.reduce((sum, [, seconds]) => sum + machine * seconds, 0) + own.reduce((a, b) => a + b, 0);
  return { expected, shares: [1, ...own.map((seconds) => seconds / expected)] };
}

const sumOf = (parts: Parts): number => Object.values(parts).reduce((sum, seconds) => sum + seconds, 0);

const diagonal = (values: readonly number[]): number[][] =>
  values.map((value, i) => values.map((_, j) => (i === j ? value : 0)));

/** Solves `matrix` x = `right`, for a matrix that is symmetric and positive definite, as these are. */
const solve = (matrix: readonly number[][], right: readonly number[]): number[] =>
  eliminate(
    matrix,
    right.map((value) => [value]),
  ).map(([value]) => value!);

const invert = (matrix: readonly number[][]): number[][] => eliminate(matrix, diagonal(matrix.map(() => 1)));

function eliminate(matrix: readonly number[][], right: readonly number[][]): number[][] {
  const rows = matrix.map((row, i) => [...row, ...right[i]!]);
  for (const [i, row] of rows.entries()) {
    const pivot = row[i]!;
    for (let k = i; k < row.length; k++) row[k]! /= pivot;
    for (const [j, other] of rows.entries()) {
      const factor = other[i]!;
      if (j === i || factor === 0) continue;
      for (let k = i; k < row.length; k++) other[k]! -= factor * row[k]!;
    }
  }
  return rows.map((row) => row.slice(matrix.length));
}
