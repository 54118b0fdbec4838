import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findGpus, firstGpus, type GpuPin, pinGpus, threadsEach } from '@halogrid/gpu-node/gpus';
import { poolThreads } from '@halogrid/threads/pool-threads';
import { type FrameFormat, makeFrames } from '../images/make-frames.ts';
import { openScene } from '../images/scene.ts';
import { frameSize, processFrames } from './bench-frames.ts';
import type { StartFrameCluster } from './frame-cluster.ts';
import { inBenchFolder } from './in-bench-folder.ts';
import { measureDecodeRate, measureReadRate } from './input-rates.ts';
import { type ScaleLimits, type ScaleRun, scaleTable } from './scale-table.ts';
import { untilAttached } from './until-attached.ts';

export interface BenchScaleOptions {
  /** Ascending. */
  gpus: number[];
  frames: number;
  format: FrameFormat['kind'];
  quality: number;
  repetitions: number;
  /** A photograph whose parts are the frames; a synthetic scene unless given. */
  scene?: string;
}

/**
 * Runs the same frames end to end with a node on each of the first so many GPUs, and sets the rates beside perfect scaling
 * and beside reading and decoding alone. Returns the table. Rejects with one sentence where there are fewer GPUs.
 */
export async function benchScale(
  options: BenchScaleOptions,
  start: StartFrameCluster,
  note: (line: string) => void,
): Promise<string> {
  const inventory = await findGpus();
  const pins = await pinGpus(firstGpus(options.gpus.at(-1)!, inventory), inventory!);
  return inBenchFolder(async (folder, stopped) => {
    const source = join(folder, 'frames');
    const limits = await Promise.race([prepare(source, options, note), stopped]);
    const runs: ScaleRun[] = [];
    const digests = new Set<string>();
    // A GPU has its share of the cores, however many run: what is compared is machines that grow.
    const threads = threadsEach(options.gpus.at(-1)!);
    note(`${threads} threads of ${poolThreads()} for each GPU`);
    const setting = { ...options, start, threads, source, folder, note, stopped, digests };
    for (const count of options.gpus) runs.push(await runOn(pins.slice(0, count), setting));
    if (digests.size > 1) throw new Error(`The results of runs differ: their digests are ${[...digests].join(', ')}`);
    return scaleTable(runs, limits);
  });
}

/** What all runs have in common. */
interface Setting extends BenchScaleOptions {
  start: StartFrameCluster;
  /** The frames, inside `folder`, into which results go. */
  source: string;
  folder: string;
  /** On which a node reads and decodes. */
  threads: number;
  note: (line: string) => void;
  /** Rejects when the bench is to stop. */
  stopped: Promise<never>;
  /** Collects those of the jobs. */
  digests: Set<string>;
}

/** Writes the frames and measures what the machine does with them without a GPU. */
async function prepare(source: string, options: BenchScaleOptions, note: (line: string) => void): Promise<ScaleLimits> {
  const { frames, format, quality, scene } = options;
  const files = await makeFrames(
    source,
    frames,
    frameSize,
    { kind: format, quality },
    await openScene(frameSize, scene),
  );
  // The first time may read the disk; runs find in memory what fits.
  await measureReadRate(source);
  const readsPerSecond = await measureReadRate(source);
  const decodesPerSecond =
    format === 'jpg' ? await measureDecodeRate(files, frameSize, Math.min(frames, 4000)) : undefined;
  const decoding = decodesPerSecond === undefined ? '' : `, decoding alone ${decodesPerSecond.toFixed(0)}`;
  note(`${frames} frames, ${format}; frames/s: reading alone ${readsPerSecond.toFixed(0)}${decoding}`);
  return { readsPerSecond, decodesPerSecond };
}

async function runOn(gpus: readonly GpuPin[], setting: Setting): Promise<ScaleRun> {
  const { source, folder, frames, repetitions, start, threads, note, stopped, digests } = setting;
  const cluster = await start({ nodes: gpus.length, device: 'gpu', gpus, threads, note });
  const measure = async (): Promise<ScaleRun> => {
    await cluster.ready;
    await untilAttached(cluster, gpus.length, 'nodes on a GPU each');
    const name = (run: string) => `${gpus.length}-gpus-${run}`;
    await processFrames(cluster, source, folder, name('warm-up'));
    const framesPerSecond: number[] = [];
    const stageSeconds: Record<string, number> = {};
    for (let i = 0; i < repetitions; i++) {
      framesPerSecond.push(frames / (await processFrames(cluster, source, folder, name(String(i)))));
      const { seconds, digest } = JSON.parse(await readFile(join(folder, name(String(i)), 'job.json'), 'utf8'));
      digests.add(digest);
      for (const [stage, value] of Object.entries<number>(seconds))
        stageSeconds[stage] = (stageSeconds[stage] ?? 0) + value;
    }
    return { gpus: gpus.length, framesPerSecond, stageSeconds };
  };
  try {
    return await Promise.race([measure(), cluster.broken, stopped]);
  } finally {
    await cluster.stop();
  }
}
