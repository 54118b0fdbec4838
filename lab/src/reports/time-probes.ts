import { availableParallelism } from 'node:os';
import { type BenchImages, type KernelCase, stageCase } from '@halogrid/bench/kernel-case';
import { type SamplingOptions, timeSamples } from '@halogrid/bench/take-samples';
import { measureKernelTimes } from '@halogrid/bench/time-strategies';
import type { Size } from '@halogrid/geometry';
import { createPipeline, runReference } from '@halogrid/kernels';
import { measureWholeTimes } from '../timing/whole-times.ts';
import type { Content, Method, TimedWork } from './report.ts';

/** Device and images for probes. */
export interface Bench {
  device: 'gpu' | 'software';
  /** Red, green and blue plane of random image `index` (1, 2, …) of a size; or the gray plane of `content`. */
  image(size: Size, index: number, content?: Content): Promise<Uint8Array>;
}

/** Runs between two timestamps of a real GPU, enough to make the step of its clock negligible. */
const runsOfSmall = 100;
const runsOfLarge = 20;
/** The most samples (pixels times channels) of a small image. */
const smallSamples = 2 ** 21;

/**
 * Milliseconds of the samples of each probe, within `cellMs` after the warm-up. All probes have the same timer, the
 * same number of images and of runs. A device compiles every kernel once. The timer 'kernel' uses the images of the
 * method in turns; the others take samples of each image. Rejects with one sentence if a probe cannot run.
 */
export async function timeProbes(
  probes: readonly TimedWork[],
  { images, repetitions }: Method,
  cellMs: number,
  bench: Bench,
): Promise<number[][]> {
  const indices = Array.from({ length: images }, (_, i) => i + 1);
  if (probes[0]!.timer === 'kernel') return timeImages(probes, indices, repetitions, cellMs, bench);
  const samples: number[][] = probes.map(() => []);
  for (const index of indices) {
    const measured = await timeImages(probes, [index], repetitions, cellMs / images, bench);
    for (const [i, ofImage] of measured.entries()) samples[i]!.push(...ofImage);
  }
  return samples;
}

async function timeImages(
  probes: readonly TimedWork[],
  indices: readonly number[],
  repetitions: number,
  withinMs: number,
  bench: Bench,
): Promise<number[][]> {
  const load = once((size: Size, content?: Content) =>
    Promise.all(indices.map((index) => bench.image(size, index, content))),
  );
  const images = new Map<string, BenchImages>();
  const cases: KernelCase[] = [];
  for (const probe of probes) {
    const key = JSON.stringify([probe.size, channelsOf(probe), probe.content]);
    const ofProbe = images.get(key) ?? imagesOf(probe, await load(probe.size, probe.content));
    images.set(key, ofProbe);
    cases.push(caseOf(probe, ofProbe));
  }
  const { timer, size, images: imagesPerSample } = probes[0]!;
  const runsPerSample = runsOf(probes[0]!, bench);
  const common = { size, cases, repetitions, withinMs };
  switch (timer) {
    case 'kernel':
      return samplesMs(await measureKernelTimes({ kind: bench.device, ...common, runsPerSample }));
    case 'whole':
    case 'batch':
      return samplesMs(await measureWholeTimes({ kind: bench.device, ...common, imagesPerSample }));
    case 'cpu':
      return samplesMs(await measureWholeTimes({ kind: 'cpu', ...common }));
    case 'threads': {
      const threads = availableParallelism();
      const all = samplesMs(await measureWholeTimes({ kind: 'cpu', ...common, imagesPerSample: threads }));
      return all.map((samples) => samples.map((ms) => ms / threads));
    }
    case 'twin':
      return timeTwins(cases, common);
  }
}

/** Runs of a sample. */
export function runsOf(probe: TimedWork, { device }: Bench): number {
  if (device === 'software' || probe.timer !== 'kernel') return 1;
  return samplesOf(probe) > smallSamples ? runsOfLarge : runsOfSmall;
}

const samplesMs = ({ rows }: { rows: { samplesMs: number[] }[] }): number[][] => rows.map((row) => row.samplesMs);

const channelsOf = ({ operations }: TimedWork): number => createPipeline(operations).input.length;
const samplesOf = (probe: TimedWork): number => probe.size.width * probe.size.height * channelsOf(probe);

function imagesOf(probe: TimedWork, planes: readonly Uint8Array[]): BenchImages {
  const [photo, ...morePhotos] = planes.map((one) => one.subarray(0, samplesOf(probe)));
  return { size: probe.size, photo, morePhotos };
}

function caseOf({ operations, output, size, strategy, grid }: TimedWork, images: BenchImages): KernelCase {
  const name = `${operations.map(({ kernel }) => kernel).join(' > ')} of ${size.width}x${size.height}`;
  return { name, operations, output, strategy, grid, input: 'photo', images };
}

type Load<T> = (size: Size, content?: Content) => Promise<T>;

/** Loads images of one size and content once. */
function once<T>(load: Load<T>): Load<T> {
  const loaded = new Map<string, Promise<T>>();
  return (size, content) => {
    const key = `${size.width}x${size.height} ${content}`;
    const loading = loaded.get(key) ?? load(size, content);
    loaded.set(key, loading);
    return loading;
  };
}

async function timeTwins(cases: readonly KernelCase[], options: SamplingOptions): Promise<number[][]> {
  const samples: number[][] = [];
  for (const one of cases) {
    const { pipeline, withMap, item, bytes } = stageCase(one, one.images!);
    const sample = () => {
      const startedMs = performance.now();
      runReference(pipeline, bytes, item, withMap);
      return performance.now() - startedMs;
    };
    samples.push(await timeSamples(options, sample));
  }
  return samples;
}
