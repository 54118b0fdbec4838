import { spreadOf } from '@halogrid/bench/statistics';
import { table } from '@halogrid/service/text-table';

/** Several runs of the same frames on a number of GPUs. */
export interface ScaleRun {
  gpus: number;
  framesPerSecond: readonly number[];
  /** What bound the last of these runs, in the words of its summary. */
  boundBy: string;
}

/** Rates of parts of the machine alone. */
export interface ScaleLimits {
  /** Undefined for recordings: their pixels are not in the files. */
  readsPerSecond?: number;
  /** All cores, without a GPU; undefined if they decode nothing. */
  decodesPerSecond?: number;
}

/**
 * If a run reaches this share of the rate of a part alone, that part binds. One process alone reaches 0.94.
 */
const binding = 0.85;
/** A run that is this much faster than a part alone was not bound by it: only one process measures reading alone. */
const unbound = 1.15;

/** A row for each number of GPUs. Perfect scaling is the rate of the first row times the ratio of the numbers. */
export function scaleTable(runs: readonly ScaleRun[], limits: ScaleLimits): string {
  const first = runs[0]!;
  const perGpu = spreadOf(first.framesPerSecond).median / first.gpus;
  const rows = runs.map((run) => {
    const { median, min, max } = spreadOf(run.framesPerSecond);
    const rates = [median, min, max].map((rate) => rate.toFixed(0));
    return [String(run.gpus), ...rates, (median / (perGpu * run.gpus)).toFixed(3), whatBinds(run, limits)];
  });
  return table([['GPUs', 'frames/s', 'min', 'max', 'of perfect scaling', 'bound by'], ...rows]);
}

/** The part of the machine whose own limit the run comes near to; otherwise what its nodes waited for. */
export function whatBinds({ framesPerSecond, boundBy }: ScaleRun, limits: ScaleLimits): string {
  const rate = spreadOf(framesPerSecond).median;
  const ofAlone = (alone: number | undefined) => (alone === undefined ? 0 : rate / alone);
  const decoding = ofAlone(limits.decodesPerSecond);
  const reading = ofAlone(limits.readsPerSecond);
  const binds = (share: number) => share >= binding && share <= unbound;
  if (binds(decoding) && (decoding >= reading || !binds(reading)))
    return `decode cores: ${decoding.toFixed(2)} of decoding alone`;
  return binds(reading) ? `disk: ${reading.toFixed(2)} of reading alone` : boundBy;
}
