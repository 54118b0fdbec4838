import { spreadOf } from '@halogrid/bench/statistics';
import { table } from '@halogrid/service/text-table';

/** Repeated runs of the same frames. */
export interface SplitRun {
  seconds: readonly number[];
  /** Computed frames by the kind of the device, summed over the runs. */
  frames: Readonly<Record<string, number>>;
}

export interface SplitRuns {
  /** With a node on the device alone; the others with a node on the cpu alone, and with both. */
  device: SplitRun;
  cpu: SplitRun;
  both: SplitRun;
}

/**
 * The rule of the fourth report for two processors that share T frames. R is the time of the cpu over the time of the
 * device. T·R / (1 + R) frames go to the device, and both end after the time of the cpu over 1 + R.
 */
export function predictSplit(
  deviceSeconds: number,
  cpuSeconds: number,
): { ratio: number; share: number; seconds: number } {
  const ratio = cpuSeconds / deviceSeconds;
  return { ratio, share: ratio / (1 + ratio), seconds: cpuSeconds / (1 + ratio) };
}

/** A row for each run and one for the prediction; `device` is the kind of the device. */
export function splitTable(device: string, frames: number, runs: SplitRuns): string {
  const predicted = predictSplit(spreadOf(runs.device.seconds).median, spreadOf(runs.cpu.seconds).median);
  const measured = (name: string, run: SplitRun): string[] => {
    const { median, min, max } = spreadOf(run.seconds);
    const all = Object.values(run.frames).reduce((sum, count) => sum + count, 0);
    const shares = [device, 'cpu'].map((kind) => percentage((run.frames[kind] ?? 0) / all));
    return [name, ...[median, min, max].map(inSeconds), (frames / median).toFixed(0), ...shares];
  };
  return table([
    ['nodes', 'median s', 'min', 'max', 'frames/s', `to ${device}`, 'to cpu'],
    measured(device, runs.device),
    measured('cpu', runs.cpu),
    [
      `both, predicted by R = ${predicted.ratio.toFixed(2)}`,
      inSeconds(predicted.seconds),
      '',
      '',
      (frames / predicted.seconds).toFixed(0),
      percentage(predicted.share),
      percentage(1 - predicted.share),
    ],
    measured('both', runs.both),
  ]);
}

const inSeconds = (seconds: number): string => seconds.toFixed(2);
const percentage = (share: number): string => `${(100 * share).toFixed(1)} %`;
