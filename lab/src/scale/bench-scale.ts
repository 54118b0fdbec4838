import { join } from 'node:path';
import type { FrameCluster, StartFrameCluster } from '@halogrid/bench/frame-cluster';
import { timeFrames } from '@halogrid/bench/frames';
import { inBenchFolder } from '@halogrid/bench/in-bench-folder';
import { describeTimeSpent, whereTimeWent } from '@halogrid/console/words/where-time-went.js';
import { findGpus, firstGpus, type GpuPin, pinGpus, threadsEach } from '@halogrid/gpu-node/gpus';
import { poolThreads } from '@halogrid/threads/pool-threads';
import { untilAttached } from '../split/until-attached.ts';
import { makeScaleInputs, type ScaleInputOptions, type ScaleInputs } from './scale-inputs.ts';
import { scaleTable } from './scale-table.ts';

export interface BenchScaleOptions extends ScaleInputOptions {
  /** Ascending. */
  gpus: number[];
  repetitions: number;
}

/**
 * Runs the same frames end to end on the first GPUs of the machine, a node on each, with each number of GPUs in turns.
 * Compares the rates with perfect scaling, and with reading and decoding alone. Returns the table. Rejects with one
 * sentence if the machine has fewer GPUs.
 */
export async function benchScale(
  options: BenchScaleOptions,
  start: StartFrameCluster,
  note: (line: string) => void,
): Promise<string> {
  const inventory = await findGpus();
  const pins = await pinGpus(firstGpus(options.gpus.at(-1)!, inventory), inventory!);
  return inBenchFolder(async (folder, stopped) => {
    const inputs = await Promise.race([makeScaleInputs(folder, options, note), stopped]);
    // A GPU always has the same share of the cores: the comparison is between machines that grow.
    const threads = threadsEach(options.gpus.at(-1)!);
    note(`${threads} threads of ${poolThreads()} for each GPU`);
    const clusters: GpuCluster[] = [];
    try {
      for (const count of options.gpus) {
        const gpus = pins.slice(0, count);
        const { decode } = options;
        clusters.push({ gpus, cluster: await start({ nodes: count, device: 'gpu', decode, gpus, threads, note }) });
      }
      const broken = clusters.map(({ cluster }) => cluster.broken);
      return await Promise.race([compare(clusters, inputs, folder, options, note), ...broken, stopped]);
    } finally {
      for (const { cluster } of clusters) await cluster.stop();
    }
  });
}

/** A cluster with a node on each of `gpus`. It costs nothing while another is measured. */
interface GpuCluster {
  gpus: readonly GpuPin[];
  cluster: FrameCluster;
}

async function compare(
  clusters: readonly GpuCluster[],
  { source, frames, job, limits }: ScaleInputs,
  folder: string,
  { repetitions }: BenchScaleOptions,
  note: (line: string) => void,
): Promise<string> {
  const digests = new Set<string>();
  const runs = clusters.map(({ gpus, cluster }) => {
    const run = { gpus: gpus.length, framesPerSecond: [] as number[], boundBy: 'unknown' };
    const measure = async (turn: string): Promise<void> => {
      const ended = await timeFrames(cluster, source, join(folder, `${gpus.length}-gpus-${turn}`), job);
      run.framesPerSecond.push(frames / ended.seconds);
      run.boundBy =
        describeTimeSpent(whereTimeWent(ended.status)).find(([name]) => name === 'bound by')?.[1] ?? run.boundBy;
      digests.add(ended.status.digest);
    };
    return { run, measure };
  });
  for (const { gpus, cluster } of clusters) {
    await cluster.ready;
    await untilAttached(cluster, gpus.length, 'nodes on a GPU each');
    await timeFrames(cluster, source, join(folder, `${gpus.length}-gpus-warm-up`), job);
  }
  for (let turn = 0; turn < repetitions; turn++) {
    for (const { measure } of runs) await measure(String(turn));
    const rates = runs.map(({ run }) => `${run.framesPerSecond.at(-1)!.toFixed(0)} (${run.gpus})`);
    note(`${turn + 1} of ${repetitions}: ${rates.join(', ')} frames/s`);
  }
  if (digests.size > 1) throw new Error(`The results of runs differ: their digests are ${[...digests].join(', ')}`);
  return scaleTable(
    runs.map(({ run }) => run),
    limits,
  );
}
