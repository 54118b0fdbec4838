import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StartFrameCluster } from '@halogrid/bench/frame-cluster';
import { processFrames } from '@halogrid/bench/frames';
import { inBenchFolder } from '@halogrid/bench/in-bench-folder';
import { type FrameFormat, makeFrames } from '@halogrid/bench/make-frames';
import { openScene } from '@halogrid/bench/scene';
import { type SplitRun, splitTable } from './split-table.ts';
import { untilAttached } from './until-attached.ts';

export interface BenchSplitOptions {
  /** The device that is compared with the cpu. */
  device: 'gpu' | 'software';
  /** `--op` of the jobs. */
  op: string;
  frames: number;
  /** Frames of a shard. A job needs many shards, because the scheduler gives out whole ones. */
  batch: number;
  format: FrameFormat['kind'];
  quality: number;
  width: number;
  height: number;
  repetitions: number;
}

/**
 * Runs the same frames with a node on the device, with one on the cpu, and with both. Returns a table of the frames
 * that each should compute according to its time alone, and that the scheduler gave it. Rejects if results differ.
 */
export async function benchSplit(
  options: BenchSplitOptions,
  start: StartFrameCluster,
  note: (line: string) => void,
): Promise<string> {
  return inBenchFolder(async (folder, stopped) => {
    const { device, op, batch, format, quality, width, height } = options;
    const size = { width, height };
    const frames = batch * Math.ceil(options.frames / batch);
    const source = join(folder, 'frames');
    await makeFrames(source, frames, size, { kind: format, quality }, await openScene(size));
    note(`${frames} frames of ${width} x ${height}, ${format}, in shards of ${batch}: ${op}`);
    const digests = new Set<string>();
    const runOn = (devices: string[]): Promise<SplitRun> =>
      Promise.race([runNodes(devices, { ...options, source, folder, start, note, digests }), stopped]);
    const runs = { device: await runOn([device]), cpu: await runOn(['cpu']), both: await runOn([device, 'cpu']) };
    if (digests.size > 1) throw new Error(`The results of runs differ: their digests are ${[...digests].join(', ')}`);
    return splitTable(device, frames, runs);
  });
}

/** The inputs of all runs. */
interface Setting extends BenchSplitOptions {
  start: StartFrameCluster;
  source: string;
  folder: string;
  note: (line: string) => void;
  digests: Set<string>;
}

/** The fields of job.json that are read. */
interface RunJob {
  digest: string;
  nodes: { name: string; shards: number }[];
}

/** Runs the frames on a node for each of the devices: once to warm up, then `repetitions` times. */
async function runNodes(devices: string[], setting: Setting): Promise<SplitRun> {
  const { source, folder, op, batch, repetitions, start, note, digests } = setting;
  const cluster = await start({ nodes: devices.length, device: devices, note });
  const measure = async (): Promise<SplitRun> => {
    await cluster.ready;
    await untilAttached(cluster, devices.length);
    const kinds = new Map((await cluster.nodes()).map(({ name, device }) => [name, device?.kind ?? '']));
    const seconds: number[] = [];
    const frames: Record<string, number> = {};
    for (let i = -1; i < repetitions; i++) {
      const name = `${devices.join('-')}-${i}`;
      const took = await processFrames(cluster, source, folder, name, { op: [op], batch });
      if (i < 0) continue;
      seconds.push(took);
      const job: RunJob = JSON.parse(await readFile(join(folder, name, 'job.json'), 'utf8'));
      digests.add(job.digest);
      for (const { name, shards } of job.nodes) {
        const kind = kinds.get(name)!;
        frames[kind] = (frames[kind] ?? 0) + shards * batch;
      }
      note(`${devices.join(' and ')}, ${i + 1} of ${repetitions}: ${took.toFixed(2)} s`);
    }
    return { seconds, frames };
  };
  try {
    return await Promise.race([measure(), cluster.broken]);
  } finally {
    await cluster.stop();
  }
}
