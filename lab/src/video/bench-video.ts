import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { FrameCluster, StartFrameCluster } from '@halogrid/bench/frame-cluster';
import { processFrames } from '@halogrid/bench/frames';
import { inBenchFolder } from '@halogrid/bench/in-bench-folder';
import { spreadOf } from '@halogrid/bench/statistics';
import { threadsEach } from '@halogrid/gpu-node/gpus';
import { table } from '@halogrid/service/text-table';
import { type ClipOptions, makeRecordings } from './make-recordings.ts';
import { measureWork } from './measured.ts';
import { type MeasuredRates, ratesOf, wayOf } from './video-rates.ts';

export interface BenchVideoOptions extends ClipOptions {
  device: string;
  /** Node processes, all on that device. */
  nodes: number;
  repetitions: number;
  /** Whether the decoders of halogrid are also measured without a node. */
  decoders: boolean;
  /** `--hwaccel` of further runs, beside runs on cores alone; auto adds runs with `cuda` alone. */
  hwaccel?: string;
}

/**
 * Compares whole jobs over recordings with decoding alone on the same machine, by FFmpeg and by the decoders of
 * halogrid without a node, in turns. A job plans, leases, decodes, computes, merges and writes, in processes of a
 * coordinator and nodes. Returns the table. Rejects with one sentence if a recording cannot be made or decoded.
 */
export async function benchVideo(
  options: BenchVideoOptions,
  start: StartFrameCluster,
  note: (line: string) => void,
): Promise<string> {
  return inBenchFolder(async (folder, stopped) => {
    const source = join(folder, 'recordings');
    const recordings = await Promise.race([makeRecordings(source, options, note), stopped]);
    const warmUp = join(folder, 'warm-up');
    await makeRecordings(warmUp, { ...options, copies: Math.min(options.copies, availableParallelism()) }, () => {});
    const cluster = await start({ nodes: options.nodes, device: options.device, note });
    try {
      const compared = compare(cluster, { source, warmUp, folder, recordings }, options, note);
      return await Promise.race([compared, cluster.broken, stopped]);
    } finally {
      await cluster.stop();
    }
  });
}

interface Recordings {
  source: string;
  /** A folder with a recording for each core. Its job starts every process. */
  warmUp: string;
  folder: string;
  recordings: readonly string[];
}

async function compare(
  cluster: FrameCluster,
  { source, warmUp, folder, recordings }: Recordings,
  { repetitions, nodes, hwaccel, decoders }: BenchVideoOptions,
  note: (line: string) => void,
): Promise<string> {
  const processes = availableParallelism();
  const ways = hwaccel === 'auto' ? ['', 'cuda', 'auto'] : ['', ...(hwaccel ? [hwaccel] : [])];
  for (const way of ways) await processFrames(cluster, warmUp, folder, `warm-up-${wayOf(way)}`, jobOf(way));
  const [{ device } = {}] = await cluster.nodes();
  const rates = await ratesOf(recordings, processes, {
    withKernel: device?.kind === 'cpu',
    withDecoders: decoders,
    ways,
    asDecoded: device?.kind === 'gpu',
  });
  const samples: MeasuredRates[] = [];
  for (let i = 0; i < repetitions; i++) {
    note(`Turn ${i + 1} of ${repetitions}`);
    const sample = await rates.measure(note);
    for (const way of ways) {
      let seconds = 0;
      const { coresMs } = await measureWork(rates.frames, async () => {
        seconds = await processFrames(cluster, source, folder, `run-${i}-${wayOf(way)}`, jobOf(way));
      });
      sample[wholeOf(way)] = { rate: rates.frames / seconds, coresMs };
      note(`${wholeOf(way)}: ${(rates.frames / seconds).toFixed(0)} frames/s`);
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

/** Names of an end-to-end measurement and of a bound that it is divided by. */
export interface Ratio {
  whole: string;
  bound: string;
}

/**
 * Rows of frames a second of each measurement, and of its processor time a frame if the system tells. Then rows of each
 * ratio, turn by turn: the rate over the rate of the bound, and the bound's processor time over that of the whole.
 */
export function videoTable(title: string, samples: readonly MeasuredRates[], ratios: readonly Ratio[]): string {
  const row = (name: string, figureOf: (sample: MeasuredRates) => number, digits: number) => {
    const { median, min, max } = spreadOf(samples.map(figureOf));
    return [name, ...[median, min, max].map((value) => value.toFixed(digits))];
  };
  const names = Object.keys(samples[0]!);
  const hasTime = (name: string) => samples.every((sample) => sample[name]!.coresMs !== undefined);
  const timeOf = (sample: MeasuredRates, name: string) => sample[name]!.coresMs!;
  return table([
    [title, 'median', 'min', 'max'],
    ...names.map((name) => row(`${name}, frames/s`, (sample) => sample[name]!.rate, 0)),
    ...names.filter(hasTime).map((name) => row(`${name}, ms of cores a frame`, (sample) => timeOf(sample, name), 2)),
    ...ratios.map(({ whole, bound }) =>
      row(`${whole} / ${bound}`, (sample) => sample[whole]!.rate / sample[bound]!.rate, 3),
    ),
    ...ratios
      .filter(({ whole, bound }) => hasTime(whole) && hasTime(bound))
      .map(({ whole, bound }) =>
        row(`${whole} / ${bound}, by cores`, (sample) => timeOf(sample, bound) / timeOf(sample, whole), 3),
      ),
  ]);
}
