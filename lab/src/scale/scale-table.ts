import { spreadOf } from '@halogrid/bench/statistics';
import { table } from '@halogrid/service/text-table';

/** The same frames, run several times on so many GPUs. */
export interface ScaleRun {
  gpus: number;
  framesPerSecond: readonly number[];
  /** What bound the last of these runs, as its summary says it. */
  boundBy: string;
}

/** What parts of the machine reach alone. */
export interface ScaleLimits {
  /** Undefined where recordings are read: their pixels are not in the files. */
  readsPerSecond?: number;
  /** All cores, without any GPU; undefined where they decode nothing. */
  decodesPerSecond?: number;
}

/**
 * From this share of what a part of the machine reaches alone, that part is what binds: one process alone comes to
 * 0.94.
 */
const binding = 0.85;
/** Who is faster than a part alone by this much was not bound by it: reading alone goes by one process. */
const unbound = 1.15;

/** A row a number of GPUs. Perfect scaling is the rate of the first row times the ratio of the numbers. */
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

/** The part of the machine whose own limit the run comes near to; else what its nodes waited for. */
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
