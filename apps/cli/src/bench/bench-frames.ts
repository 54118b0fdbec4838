import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JobState } from '@halogrid/proto';
import { aborted, shutdownSignal } from '@halogrid/service';
import { type CoordinatorClient, connectCoordinator } from '../client/coordinator-client.ts';
import { startLocalCluster } from '../cluster/local-cluster.ts';
import { threadsEach } from '../cluster/threads-each.ts';
import { parseJob } from '../options/job-options.ts';
import { followJob } from '../progress/follow-job.ts';
import { plural } from '../progress/quantities.ts';
import { table } from '../summary/table.ts';
import { measureDecodeRate } from './decode-rate.ts';
import { type FrameFormat, makeFrames } from './make-frames.ts';
import { measureReadRate } from './read-rate.ts';
import { openScene } from './scene.ts';
import { spreadOf } from './statistics.ts';

export interface BenchFramesOptions {
  frames: number;
  format: FrameFormat['kind'];
  quality: number;
  repetitions: number;
  device: string;
  /** Node processes, all on that device. */
  nodes: number;
  width: number;
  height: number;
  /** A photograph whose parts are the frames; a synthetic scene unless given. */
  scene?: string;
}

export const frameSize = { width: 1920, height: 1080 };

/**
 * Compares the whole way of frames — listed, leased, read, decoded, computed, merged, written, by a coordinator and nodes
 * in processes of their own — with decoding alone on the same cores, or with reading alone where nothing is to be decoded,
 * in turns. Returns the table.
 */
export async function benchFrames(options: BenchFramesOptions, note: (line: string) => void): Promise<string> {
  const signal = shutdownSignal();
  const stopped = aborted(signal).then(() => Promise.reject(new Error(`Stopped by ${signal.reason}`)));
  // Whoever waits for it sees the error; until then it is not an unhandled one.
  stopped.catch(() => {});
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
  const cluster = await startLocalCluster({ nodes: options.nodes, device: options.device, note });
  const client = connectCoordinator(cluster.address, cluster.security);
  try {
    return await Promise.race([compare(client, folder, options, note), cluster.broken, stopped]);
  } finally {
    client.close();
    await cluster.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function compare(
  client: CoordinatorClient,
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

  await processFrames(client, source, folder, 'warm-up');
  await measureAlone(Math.min(frames, 200));
  const floor: number[] = [];
  const whole: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    floor.push(await measureAlone(frames));
    whole.push(frames / (await processFrames(client, source, folder, `run-${i}`)));
    note(`${i + 1} of ${repetitions}: ${whole[i]!.toFixed(0)} frames/s, ${floor[i]!.toFixed(0)} ${alone}`);
  }
  const [used] = (await client.nodes()).map((node) => `${node.device?.kind} (${node.device?.name})`);
  const row = (name: string, values: number[], digits: number) => {
    const { median, min, max } = spreadOf(values);
    return [name, ...[median, min, max].map((value) => value.toFixed(digits))];
  };
  const title = `${used}, ${plural(nodes, 'node')} of ${threadsEach(nodes)} threads, ${repetitions} repetitions`;
  return table([
    [title, 'median', 'min', 'max'],
    row(`${alone}, frames/s`, floor, 0),
    row('end to end, frames/s', whole, 0),
    row(
      'end to end, MB/s of files',
      whole.map((rate) => (rate * bytes) / 1e6),
      0,
    ),
    row(
      `end to end / ${alone}`,
      whole.map((rate, i) => rate / floor[i]!),
      3,
    ),
  ]);
}

/** Seconds from the submission of a job over the frames to its end. */
export async function processFrames(
  client: CoordinatorClient,
  source: string,
  folder: string,
  name: string,
): Promise<number> {
  const request = parseJob([source], { map: 'none', grid: '1x1', out: join(folder, name) }, folder);
  const start = performance.now();
  const { jobId } = await client.submit(request);
  const job = await followJob(client, jobId, { show() {}, note() {}, end() {} });
  if (job.state !== JobState.COMPLETE) throw new Error(`The job over the frames ended as ${job.state}: ${job.error}`);
  return (performance.now() - start) / 1000;
}
