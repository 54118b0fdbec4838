import { fitCosts, likeness, type Parts, predict } from './cost-model.ts';
import type { KeptRun } from './run-records.ts';

/** How long a job takes, and how sure that is. Times are of the job, from its submission to its end; its start comes before. */
export interface TimeEstimate {
  seconds: number;
  /** Nineteen of twenty such jobs take longer, and nineteen of twenty less, as far as the runs tell. */
  lowSeconds: number;
  highSeconds: number;
  /** How much longer that is for what else the machine does now; 1 where there are cores for all. */
  slowdown: number;
  /** Until a coordinator and the nodes serve, where `run` starts them. */
  startSeconds: number;
  /** Runs on this machine that spent most of their time on the same, and others. */
  likeRuns: number;
  otherRuns: number;
}

/** Two jobs are alike where that much of their time is spent on the same. */
const alike = 0.6;

/** What a job comes to before anything is known of this machine. */
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

/** The middle value, the upper one of two; undefined where there is none. */
const medianOf = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** What the estimate is based on, a clause. */
export function basisOf({ likeRuns, otherRuns }: Pick<TimeEstimate, 'likeRuns' | 'otherRuns'>): string {
  const runs = (count: number, what: string) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
  if (likeRuns > 0) return `from ${runs(likeRuns, 'similar run')} on this machine`;
  if (otherRuns > 0) return `a guess: from ${runs(otherRuns, 'run')} on this machine, none of them similar`;
  return 'a guess: nothing was run on this machine yet';
}
