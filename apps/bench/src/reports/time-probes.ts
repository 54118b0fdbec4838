import { availableParallelism } from 'node:os';
import type { Size } from '@halogrid/geometry';
import { createPipeline, runReference } from '@halogrid/kernels';
import { type KernelCase, stageCase } from '../timing/kernel-case.ts';
import { measureKernelTimes, warmUps } from '../timing/time-strategies.ts';
import { measureWholeTimes } from '../timing/whole-times.ts';
import type { Probe } from './report.ts';

/** What probes run on. */
export interface Bench {
  device: 'gpu' | 'software';
  /** Red, green and blue plane of random image `index` (1, 2, …) of a size. */
  image(size: Size, index: number): Promise<Uint8Array>;
}

/** Runs between two timestamps of a real GPU, so that the clock's step does not matter; fewer of what takes long. */
const runsOfSmall = 100;
const runsOfLarge = 20;
/** Samples, i.e. pixels times channels, of an image that counts as small. */
const smallSamples = 2 ** 21;

/**
 * Milliseconds of `repetitions` samples of each probe on image `index`. The probes have one timer, one number of images
 * and as many runs; a device compiles every kernel once. Rejects with one sentence where one of them cannot be run.
 */
export async function timeProbes(
  probes: readonly Probe[],
  index: number,
  repetitions: number,
  bench: Bench,
): Promise<number[][]> {
  const image = once((size: Size) => bench.image(size, index));
  const cases: KernelCase[] = [];
  for (const probe of probes) cases.push(caseOf(probe, await image(probe.size)));
  const { timer, size, images } = probes[0]!;
  const runsPerSample = runsOf(probes[0]!, bench);
  const common = { size, cases, repetitions };
  switch (timer) {
    case 'kernel':
      return samplesMs(await measureKernelTimes({ kind: bench.device, ...common, runsPerSample }));
    case 'whole':
    case 'batch':
      return samplesMs(await measureWholeTimes({ kind: bench.device, ...common, imagesPerSample: images }));
    case 'cpu':
      return samplesMs(await measureWholeTimes({ kind: 'cpu', ...common }));
    case 'threads': {
      const threads = availableParallelism();
      const all = samplesMs(await measureWholeTimes({ kind: 'cpu', ...common, imagesPerSample: threads }));
      return all.map((samples) => samples.map((ms) => ms / threads));
    }
    case 'twin':
      return cases.map((one) => timeTwin(one, repetitions));
  }
}

/** Runs of a sample. */
export function runsOf(probe: Probe, { device }: Bench): number {
  if (device === 'software' || probe.timer !== 'kernel') return 1;
  return samplesOf(probe) > smallSamples ? runsOfLarge : runsOfSmall;
}

const samplesMs = ({ rows }: { rows: { samplesMs: number[] }[] }): number[][] => rows.map((row) => row.samplesMs);

const channelsOf = ({ operations }: Probe): number => createPipeline(operations).input.length;
const samplesOf = (probe: Probe): number => probe.size.width * probe.size.height * channelsOf(probe);

function caseOf(probe: Probe, planes: Uint8Array): KernelCase {
  const { operations, output, size, strategy, grid } = probe;
  const photo = planes.subarray(0, samplesOf(probe));
  const name = `${operations.map(({ kernel }) => kernel).join(' > ')} of ${size.width}x${size.height}`;
  return { name, operations, output, strategy, grid, input: 'photo', images: { size, photo } };
}

/** Images of one size are the same memory. */
function once<T>(load: (size: Size) => Promise<T>): (size: Size) => Promise<T> {
  const loaded = new Map<string, Promise<T>>();
  return (size) => {
    const key = `${size.width}x${size.height}`;
    const loading = loaded.get(key) ?? load(size);
    loaded.set(key, loading);
    return loading;
  };
}

function timeTwin(one: KernelCase, repetitions: number): number[] {
  const { pipeline, withMap, item, bytes } = stageCase(one, one.images!);
  const samples: number[] = [];
  for (let i = 0; i < warmUps + repetitions; i++) {
    const startedMs = performance.now();
    runReference(pipeline, bytes, item, withMap);
    if (i >= warmUps) samples.push(performance.now() - startedMs);
  }
  return samples;
}
