import { fitCosts, likeness, type Parts, predict } from './cost-model.ts';
import type { KeptRun } from './run-records.ts';

/**
 * How long a job takes, and how certain that is. Times are of the job, from its submission to its end, without the
 * start of the processes.
 */
export interface TimeEstimate {
  seconds: number;
  /**
   * Limits of the range: nineteen of twenty such jobs take longer than the low one, and nineteen of twenty less than
   * the high one.
   */
  lowSeconds: number;
  highSeconds: number;
  /** How many times longer other programs make the job now; 1 if there are enough cores. */
  slowdown: number;
  /** Seconds until the coordinator and nodes that `run` starts serve. */
  startSeconds: number;
  /** Runs on this machine that spent most of their time on the same parts, and other runs. */
  likeRuns: number;
  otherRuns: number;
}

/** Two jobs are similar if they spend this share of their time on the same parts. */
const alike = 0.6;

/** The time of a job by the constants of the program, before any run on this machine. */
export interface UsualTime {
  parts: Parts;
  startSeconds: number;
}

export function estimateTime(usual: UsualTime, runs: readonly KeptRun[], slowdown: number): TimeEstimate {
  const { parts } = usual;
  const likeRuns = runs.filter((run) => likeness(run.parts, parts) >= alike).length;
  return {
    ...predict(parts, fitCosts(runs), slowdown),
    slowdown,
    startSeconds: usual.startSeconds * slowdown * (medianOf(runs.map((run) => run.startFactor)) ?? 1),
    likeRuns,
    otherRuns: runs.length - likeRuns,
  };
}

/** The median; of two middle values the upper one. Undefined for no values. */
const medianOf = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** A clause that says what the estimate is based on. */
export function basisOf({ likeRuns, otherRuns }: Pick<TimeEstimate, 'likeRuns' | 'otherRuns'>): string {
  const runs = (count: number, what: string) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
  if (likeRuns > 0) return `from ${runs(likeRuns, 'similar run')} on this machine`;
  if (otherRuns > 0) return `a guess: from ${runs(otherRuns, 'run')} on this machine, none of them similar`;
  return 'a guess: nothing was run on this machine yet';
}
