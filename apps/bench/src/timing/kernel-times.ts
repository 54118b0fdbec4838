import { type BenchImages, type KernelCase, stageCase } from './kernel-case.ts';
import { timeStrategies } from './time-strategies.ts';
import { withTimedDevice } from './timed-device.ts';

/** What one case takes: milliseconds of one run on one image, a repetition each. */
export interface KernelTime {
  name: string;
  samplesMs: number[];
}

export interface KernelTimesOptions extends BenchImages {
  kind: 'gpu' | 'software';
  cases: readonly KernelCase[];
  /** Timed samples. */
  repetitions: number;
  /** Runs between two timestamps, so that the clock's step does not matter. */
  runsPerSample: number;
}

/** Times pipelines by the GPU's own clock. Rejects with one sentence for a case that cannot be run. */
export function measureKernelTimes(options: KernelTimesOptions): Promise<{ device: string; rows: KernelTime[] }> {
  return withTimedDevice(options.kind, async (device, info, check) => {
    const rows: KernelTime[] = [];
    for (const one of options.cases) {
      const [samplesMs] = await timeStrategies(device, stageCase(one, options), [one.strategy], options);
      rows.push({ name: one.name, samplesMs: samplesMs! });
      check(one.name);
    }
    return { device: info.name, rows };
  });
}
