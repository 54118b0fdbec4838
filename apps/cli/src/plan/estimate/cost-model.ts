/**
 * The time of a job as a sum of named parts, each in seconds. The values come from constants of the program. Machines
 * and jobs differ from these, so each part has a factor of its own, and all parts share a factor of the machine.
 * fitCosts learns the factors from runs.
 */
export type Parts = Readonly<Record<string, number>>;

export interface RunRecord {
  parts: Parts;
  /** How many times longer other programs made the run, as measured before it; at least 1. */
  slowdown: number;
  /** Seconds that the job took. */
  seconds: number;
}

export interface Prediction {
  seconds: number;
  /**
   * Limits of the range: in the model, one job of twenty takes less than the low one, and one more than the high one.
   */
  lowSeconds: number;
  highSeconds: number;
}

/** Factors as logarithms, with their uncertainty. */
export interface FittedCosts {
  /** Names of the parts that have a factor of their own. In `logs`, the factor of the machine comes before theirs. */
  readonly names: readonly string[];
  readonly logs: readonly number[];
  /** Covariance of `logs`. */
  readonly covariance: readonly (readonly number[])[];
}

/**
 * Standard deviations of the logarithms of factors before any run: between machines, and between parts on one machine.
 * With these, two thirds of the jobs with a single part are within a factor of 2.2.
 */
const machineDeviation = 0.5;
const partDeviation = 0.6;

/** The standard deviation between runs of the same job on a machine that does other things as well. */
const runDeviation = 0.2;

/**
 * Other programs change what they do: this share of the logarithm of a slowdown is the standard deviation of what it
 * becomes.
 */
const slowdownDeviation = 0.5;

/** A run that is off by more than this many standard deviations gets less weight: the machine was busy. */
const farOff = 1.5;

const steps = 25;

/**
 * The fit ends when factors move by less than this, since runs differ by more. A limit of a millionth takes twice the
 * steps (measured).
 */
const settled = 0.01;

/** One twentieth of a normal distribution lies above this many standard deviations. */
const twentieth = 1.645;

/**
 * The most probable factors, given the runs and the deviations above (Gauss-Newton with the weights of Huber). The
 * curvature there gives their uncertainty. Without runs, all factors are 1.
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
    // Steps are limited, because a large step goes too far: shares change on the way.
    const most = Math.max(...move.map(Math.abs));
    logs = logs.map((log, i) => log + move[i]! * Math.min(1, 1 / most));
    if (most < settled) break;
  }
  const root = rootOf(curvature);
  return { names, logs, covariance: diagonal(before.map(() => 1)).map((column) => solve(root, column)) };
}

const deviationOf = (slowdown: number): number => Math.hypot(runDeviation, slowdownDeviation * Math.log(slowdown));

/**
 * The time of a job with these parts. Parts without a run get only the factor of the machine. `slowdown` is the current
 * one.
 */
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

/** How similar two jobs are: the share of their time that is spent on the same parts, 0 to 1. */
export function likeness(a: Parts, b: Parts): number {
  const [sumA, sumB] = [sumOf(a), sumOf(b)];
  if (sumA === 0 || sumB === 0) return 0;
  return Object.entries(a).reduce((sum, [name, seconds]) => sum + Math.min(seconds / sumA, (b[name] ?? 0) / sumB), 0);
}

/**
 * Seconds of a part, and the index of its factor in `logs`; 0, the factor of the machine, if the part has none of its
 * own.
 */
interface Term {
  factor: number;
  seconds: number;
}

function termsBy(names: readonly string[]): (parts: Parts) => Term[] {
  const factors = new Map(names.map((name, i) => [name, i + 1]));
  return (parts) => Object.entries(parts).map(([name, seconds]) => ({ factor: factors.get(name) ?? 0, seconds }));
}

/**
 * The expected seconds, and the share of each factor in them: how much they grow with it. Only factors with a share are
 * listed, because one run has few parts and all runs together have many.
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
 * The lower triangle whose product with its transpose is `matrix`, which must be symmetric and positive definite
 * (Cholesky).
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

/** Solves `matrix` x = `right`; `root` is the rootOf the matrix. */
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
