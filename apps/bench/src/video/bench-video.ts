import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { threadsEach } from '@halogrid/gpu-node/gpus';
import { table } from '@halogrid/service/text-table';
import { processFrames } from '../frames/bench-frames.ts';
import type { FrameCluster, StartFrameCluster } from '../frames/frame-cluster.ts';
import { inBenchFolder } from '../frames/in-bench-folder.ts';
import { spreadOf } from '../timing/statistics.ts';
import { type ClipOptions, makeRecordings } from './make-recordings.ts';
import { type Bound, type Rates, ratesOf, wayOf } from './video-rates.ts';

export interface BenchVideoOptions extends ClipOptions {
  device: string;
  /** Node processes, all on that device. */
  nodes: number;
  repetitions: number;
  /** What our decoders decode with beside cores alone; of "auto", the card alone is measured as well. */
  hwaccel?: string;
}

/**
 * Compares recordings end to end — planned, leased, decoded, computed, merged, written, by a coordinator and nodes in processes of
 * their own — with decoding alone on the same machine: by FFmpeg itself, and by our decoders without a node. All in turns. Returns the
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
  const ways = hwaccel === 'auto' ? ['', 'cuda', 'auto'] : ['', ...(hwaccel ? [hwaccel] : [])];
  for (const way of ways) await processFrames(cluster, source, folder, `warm-up-${wayOf(way)}`, jobOf(way));
  const [{ device } = {}] = await cluster.nodes();
  const rates = await ratesOf(recordings, processes, { withKernel: device?.kind === 'cpu', ways });
  const samples: Rates[] = [];
  for (let i = 0; i < repetitions; i++) {
    note(`Turn ${i + 1} of ${repetitions}`);
    const sample = await rates.measure(note);
    for (const way of ways) {
      const seconds = await processFrames(cluster, source, folder, `run-${i}-${wayOf(way)}`, jobOf(way));
      sample[wholeOf(way)] = rates.frames / seconds;
      note(`${wholeOf(way)}: ${sample[wholeOf(way)]!.toFixed(0)} frames/s`);
    }
    samples.push(sample);
  }
  await rates.close();
  const title = `${device?.kind} (${device?.name}), ${nodes} node${nodes === 1 ? '' : 's'} of ${threadsEach(nodes)} threads, ${repetitions} repetitions`;
  const ratios = ways.flatMap((way) => rates.boundsOf(way).map((bound) => ({ whole: wholeOf(way), bound })));
  return videoTable(title, samples, ratios);
}

const jobOf = (hwaccel: string) => (hwaccel ? { hwaccel } : {});

const wholeOf = (way: string): string => `end to end, ${wayOf(way)}`;

/** What end to end is of what bounds it. */
export interface Ratio {
  whole: string;
  bound: Bound;
}

/** A row for each rate, in frames a second, and for each ratio, turn by turn. */
export function videoTable(title: string, samples: readonly Rates[], ratios: readonly Ratio[]): string {
  const row = (name: string, rateOf: (sample: Rates) => number, digits: number) => {
    const { median, min, max } = spreadOf(samples.map(rateOf));
    return [name, ...[median, min, max].map((value) => value.toFixed(digits))];
  };
  const sumOf = (sample: Rates, names: readonly string[]) => names.reduce((sum, name) => sum + sample[name]!, 0);
  return table([
    [title, 'median', 'min', 'max'],
    ...Object.keys(samples[0]!).map((name) => row(`${name}, frames/s`, (sample) => sample[name]!, 0)),
    ...ratios.map(({ whole, bound }) =>
      row(`${whole} / ${bound.name}`, (sample) => sample[whole]! / sumOf(sample, bound.rates), 3),
    ),
  ]);
}
