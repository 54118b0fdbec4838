import type { CostDevice } from './kernel-costs.ts';
import type { KeptRun } from './run-records.ts';
import type { Parts } from './work-parts.ts';

/**
 * How long a job takes, and how certain that is. Times are of the job, from its submission to its end, without the
 * start of the processes.
 */
export interface TimeEstimate {
  seconds: number;
  /** Limits of the range, within which nine of ten such jobs should end. */
  lowSeconds: number;
  highSeconds: number;
  /** How many times longer other programs make the job now; 1 if there are enough cores. */
  slowdown: number;
  /** Seconds until the coordinator and nodes that `run` starts serve. */
  startSeconds: number;
  /** Remembered runs of this machine that are like the job (see isLike), and the other ones. */
  likeRuns: number;
  otherRuns: number;
}

/** The time of a job by the constants of the program, and the device that would compute it. */
export interface UsualTime {
  parts: Parts;
  device: CostDevice;
  startSeconds: number;
}

/** Jobs are alike if they spend this share of their time on the same parts. */
const alike = 0.6;

/** Standard deviations of the logarithm of the time: without and with a like run. */
const guessDeviation = 0.7;
const likeDeviation = 0.4;

/** Other programs change what they do: the logarithm of a slowdown has this share of itself as deviation. */
const slowdownDeviation = 0.5;

/** One twentieth of a normal distribution lies above this many standard deviations. */
const twentieth = 1.645;

/**
 * The time is the sum of the job's parts, multiplied by the slowdown and by the ratio of the last like run: the seconds
 * that run took, divided by the sum of its own parts. Without a like run, the mean ratio of all runs tells how fast the
 * machine is.
 */
export function estimateTime(job: UsualTime, runs: readonly KeptRun[], slowdown: number): TimeEstimate {
  const like = runs.filter((run) => isLike(run, job));
  const last = like.at(-1);
  const seconds = sumOf(job.parts) * (last ? ratioOf(last) : meanRatio(runs)) * slowdown;
  const deviation = Math.hypot(
    last ? likeDeviation : guessDeviation,
    slowdownDeviation * Math.log(slowdown),
    slowdownDeviation * Math.log(last?.slowdown ?? 1),
  );
  const spread = Math.exp(twentieth * deviation);
  return {
    seconds,
    lowSeconds: seconds / spread,
    highSeconds: seconds * spread,
    slowdown,
    startSeconds: job.startSeconds * slowdown * (runs.at(-1)?.startFactor ?? 1),
    likeRuns: like.length,
    otherRuns: runs.length - like.length,
  };
}

/** How many times longer a run took than the sum of its parts, without what other programs added. */
const ratioOf = ({ seconds, parts, slowdown }: KeptRun): number => seconds / (sumOf(parts) * slowdown);

/** The geometric mean of 1 and the ratios of runs. The 1 is there because one run says little about different jobs. */
const meanRatio = (runs: readonly KeptRun[]): number =>
  Math.exp(runs.reduce((sum, run) => sum + Math.log(ratioOf(run)), 0) / (runs.length + 1));

/**
 * Whether the time of a run tells the time of a job: both on the same kind of device, with most of their time spent on
 * the same parts. Parts are named by the kind of source, the kernel, the format of maps, servers, and what every job
 * costs. So a run on other sources is not like the job, nor is a short run like a long job of the same kind, because
 * its time is mostly what every job costs.
 */
export const isLike = (run: Pick<KeptRun, 'device' | 'parts'>, job: Pick<UsualTime, 'device' | 'parts'>): boolean =>
  run.device === job.device && likeness(run.parts, job.parts) >= alike;

/** The share of their time that two jobs spend on the same parts, 0 to 1. */
export function likeness(a: Parts, b: Parts): number {
  const [sumA, sumB] = [sumOf(a), sumOf(b)];
  if (sumA === 0 || sumB === 0) return 0;
  return Object.entries(a).reduce((sum, [name, seconds]) => sum + Math.min(seconds / sumA, (b[name] ?? 0) / sumB), 0);
}

const sumOf = (parts: Parts): number => Object.values(parts).reduce((sum, seconds) => sum + seconds, 0);

/** A clause that says what the estimate is based on. */
export function basisOf({ likeRuns, otherRuns }: Pick<TimeEstimate, 'likeRuns' | 'otherRuns'>): string {
  const runs = (count: number, what: string) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
  if (likeRuns > 0) return `from ${likeRuns > 1 ? 'the last of ' : ''}${runs(likeRuns, 'similar run')} on this machine`;
  if (otherRuns > 0) return `a guess: from ${runs(otherRuns, 'run')} on this machine, none of them similar`;
  return 'a guess: nothing was run on this machine yet';
}
