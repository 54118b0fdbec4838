import { join } from 'node:path';
import { threadsEach } from '@halogrid/gpu-node/gpus';
import { JobState, type JobStatus } from '@halogrid/proto';
import { table } from '@halogrid/service/text-table';
import { type FrameFormat, makeFrames } from '../images/make-frames.ts';
import { openScene } from '../images/scene.ts';
import { spreadOf } from '../timing/statistics.ts';
import type { FrameCluster, FrameJob, StartFrameCluster } from './frame-cluster.ts';
import { inBenchFolder } from './in-bench-folder.ts';
import { measureDecodeRate, measureReadRate } from './input-rates.ts';

export interface BenchFramesOptions {
  frames: number;
  format: FrameFormat['kind'];
  /** JPEG quality, 1 to 100. */
  quality: number;
  repetitions: number;
  /** Device of the nodes. */
  device: string;
  /** Values of `--decode`, which are measured in turns. */
  decode: readonly string[];
  /** Node processes, all on that device. */
  nodes: number;
  width: number;
  height: number;
  /** A photograph whose parts are the frames; a synthetic scene unless given. */
  scene?: string;
}

/** Another program that decodes the frames, in turns with the clusters. */
export interface OtherDecoder {
  /** Frames a second by the name of each of its ways to decode the files of a folder. */
  rates(folder: string): Promise<ReadonlyMap<string, number>>;
}

export const frameSize = { width: 1920, height: 1080 };

/**
 * Compares whole jobs over frames with decoding alone on the same cores (for pgm: with reading alone), and with another
 * decoder if one is given, in turns. A job lists, leases, reads, decodes, computes, merges and writes, in processes of
 * a coordinator and nodes. Returns the table.
 */
export async function benchFrames(
  options: BenchFramesOptions,
  start: StartFrameCluster,
  note: (line: string) => void,
  other?: OtherDecoder,
): Promise<string> {
  return inBenchFolder(async (folder, stopped) => {
    const clusters: DecodingCluster[] = [];
    try {
      for (const decode of options.decode) {
        clusters.push({ decode, cluster: await start({ nodes: options.nodes, device: options.device, decode, note }) });
      }
      const broken = clusters.map(({ cluster }) => cluster.broken);
      return await Promise.race([compare(clusters, other, folder, options, note), ...broken, stopped]);
    } finally {
      for (const { cluster } of clusters) await cluster.stop();
    }
  });
}

/** A cluster whose nodes have this value of `--decode`. */
interface DecodingCluster {
  decode: string;
  cluster: FrameCluster;
}

async function compare(
  clusters: readonly DecodingCluster[],
  other: OtherDecoder | undefined,
  folder: string,
  { frames, format, quality, repetitions, nodes, width, height, scene }: BenchFramesOptions,
  note: (line: string) => void,
): Promise<string> {
  const size = { width, height };
  const source = join(folder, 'frames');
  const files = await makeFrames(source, frames, size, { kind: format, quality }, await openScene(size, scene));
  const bytes = files.reduce((sum, file) => sum + file.length, 0) / files.length;
  const what = format === 'jpg' ? `JPEG frames of quality ${quality}` : 'PGM frames';
  note(`${frames} ${what}, ${size.width} x ${size.height}, ${Math.round(bytes / 1000)} kB each`);
  const alone = format === 'jpg' ? 'decoding alone' : 'reading alone';
  const measureAlone = (count: number) =>
    format === 'jpg' ? measureDecodeRate(files, size, count) : measureReadRate(source);

  for (const { decode, cluster } of clusters) await processFrames(cluster, source, folder, `warm-up-${decode}`);
  await measureAlone(Math.min(frames, 200));
  const floor: number[] = [];
  const whole = clusters.map((): number[] => []);
  const theirs = new Map<string, number[]>();
  for (let i = 0; i < repetitions; i++) {
    floor.push(await measureAlone(frames));
    for (const [name, rate] of (await other?.rates(source)) ?? [])
      theirs.set(name, [...(theirs.get(name) ?? []), rate]);
    for (const [j, { decode, cluster }] of clusters.entries()) {
      whole[j]!.push(frames / (await processFrames(cluster, source, folder, `run-${decode}-${i}`)));
    }
    const rates = clusters.map(({ decode }, j) => `${whole[j]![i]!.toFixed(0)} frames/s (${decode})`).join(', ');
    note(`${i + 1} of ${repetitions}: ${rates}, ${floor[i]!.toFixed(0)} ${alone}`);
  }
  const [used] = (await clusters[0]!.cluster.nodes()).map((node) => `${node.device?.kind} (${node.device?.name})`);
  const row = (name: string, values: number[], digits: number) => {
    const { median, min, max } = spreadOf(values);
    return [name, ...[median, min, max].map((value) => value.toFixed(digits))];
  };
  const title = `${used}, ${nodes} node${nodes === 1 ? '' : 's'} of ${threadsEach(nodes)} threads, ${repetitions} repetitions`;
  return table([
    [title, 'median', 'min', 'max'],
    row(`${alone}, frames/s`, floor, 0),
    ...[...theirs].map(([name, rates]) => row(`${name}, decoding alone from memory, frames/s`, rates, 0)),
    ...clusters.flatMap(({ decode }, j) => {
      const rates = whole[j]!;
      const name = format === 'jpg' ? `end to end, ${decode}` : 'end to end';
      return [
        row(`${name}, frames/s`, rates, 0),
        row(
          `${name}, MB/s of files`,
          rates.map((rate) => (rate * bytes) / 1e6),
          0,
        ),
        row(
          `${name} / ${alone}`,
          rates.map((rate, i) => rate / floor[i]!),
          3,
        ),
      ];
    }),
  ]);
}

/** Seconds from the submission of a job over the frames to its end. */
export async function processFrames(
  cluster: FrameCluster,
  source: string,
  folder: string,
  name: string,
  what?: FrameJob,
): Promise<number> {
  return (await timeFrames(cluster, source, join(folder, name), what)).seconds;
}

/** Runs a job over the frames. Seconds are from its submission to its end. Rejects if it does not complete. */
export async function timeFrames(
  cluster: FrameCluster,
  source: string,
  out: string,
  what?: FrameJob,
): Promise<{ seconds: number; status: JobStatus }> {
  const start = performance.now();
  const status = await cluster.process(source, out, what);
  if (status.state !== JobState.COMPLETE)
    throw new Error(`The job over the frames ended as ${status.state}: ${status.error}`);
  return { seconds: (performance.now() - start) / 1000, status };
}
