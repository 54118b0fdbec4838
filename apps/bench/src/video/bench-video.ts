import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { threadsEach } from '@halogrid/gpu-node/gpus';
import { table } from '@halogrid/service/text-table';
import { processFrames } from '../frames/bench-frames.ts';
import type { FrameCluster, StartFrameCluster } from '../frames/frame-cluster.ts';
import { inBenchFolder } from '../frames/in-bench-folder.ts';
import { spreadOf } from '../timing/statistics.ts';
import { type ClipOptions, makeRecordings } from './make-recordings.ts';
import { kernelAlone, type Rates, ratesOf } from './video-rates.ts';

export interface BenchVideoOptions extends ClipOptions {
  device: string;
  /** Node processes, all on that device. */
  nodes: number;
  repetitions: number;
  /** What our decoders decode with; cores unless given. */
  hwaccel?: string;
}

/**
 * Compares recordings end to end — planned, leased, decoded, computed, merged, written, by a coordinator and nodes in processes of
 * their own — with decoding alone on the same cores: by FFmpeg itself, and by our decoders without a node. All in turns. Returns the
 * table. Rejects with one sentence where a recording cannot be made or decoded.
 */
export async function benchVideo(
  options: BenchVideoOptions,
  start: StartFrameCluster,
  note: (line: string) => void,
): Promise<string> {
  return inBenchFolder(async (folder, stopped) => {
    const source = join(folder, 'recordings');
    const recordings = await Promise.race([makeRecordings(source, options, note), stopped]);
    const cluster = await start({ nodes: options.nodes, device: options.device, note });
    try {
      const compared = compare(cluster, { source, folder, recordings }, options, note);
      return await Promise.race([compared, cluster.broken, stopped]);
    } finally {
      await cluster.stop();
    }
  });
}

async function compare(
  cluster: FrameCluster,
  { source, folder, recordings }: { source: string; folder: string; recordings: readonly string[] },
  { repetitions, nodes, hwaccel }: BenchVideoOptions,
  note: (line: string) => void,
): Promise<string> {
  const processes = availableParallelism();
  const job = hwaccel ? { hwaccel } : {};
  await processFrames(cluster, source, folder, 'warm-up', job);
  const [{ device } = {}] = await cluster.nodes();
  const rates = await ratesOf(recordings, processes, { withKernel: device?.kind === 'cpu', hwaccel });
  const samples: Rates[] = [];
  for (let i = 0; i < repetitions; i++) {
    const alone = await rates.measure();
    const whole = rates.frames / (await processFrames(cluster, source, folder, `run-${i}`, job));
    samples.push({ ...alone, [endToEnd]: whole });
    const line = Object.entries(samples[i]!).map(([name, rate]) => `${rate.toFixed(0)} ${name}`);
    note(`${i + 1} of ${repetitions}, frames/s: ${line.join(', ')}`);
  }
  await rates.close();
  const title = `${device?.kind} (${device?.name}), ${nodes} node${nodes === 1 ? '' : 's'} of ${threadsEach(nodes)} threads, ${repetitions} repetitions`;
  return videoTable(title, samples);
}

const endToEnd = 'end to end';

/** A row for each rate, in frames a second, and for what end to end is of those that bound it, turn by turn. */
export function videoTable(title: string, samples: readonly Rates[]): string {
  const names = Object.keys(samples[0]!);
  const row = (name: string, values: number[], digits: number) => {
    const { median, min, max } = spreadOf(values);
    return [name, ...[median, min, max].map((value) => value.toFixed(digits))];
  };
  const others = names.filter((name) => name !== endToEnd && name !== kernelAlone);
  return table([
    [title, 'median', 'min', 'max'],
    ...names.map((name) =>
      row(
        `${name}, frames/s`,
        samples.map((sample) => sample[name]!),
        0,
      ),
    ),
    ...others.map((name) =>
      row(
        `${endToEnd} / ${name}`,
        samples.map((sample) => sample[endToEnd]! / sample[name]!),
        3,
      ),
    ),
  ]);
}
