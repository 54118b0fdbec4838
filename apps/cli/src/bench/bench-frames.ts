import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JobState } from '@halogrid/proto';
import { aborted, createClientSecurity, shutdownSignal } from '@halogrid/service';
import { type CoordinatorClient, connectCoordinator } from '../client/coordinator-client.ts';
import { startLocalCluster } from '../cluster/local-cluster.ts';
import { parseJob } from '../options/job-options.ts';
import { followJob } from '../progress/follow-job.ts';
import { table } from '../summary/table.ts';
import { measureDecodeRate } from './decode-rate.ts';
import { makeFrames } from './make-frames.ts';
import { openScene } from './scene.ts';
import { spreadOf } from './statistics.ts';

export interface BenchFramesOptions {
  frames: number;
  quality: number;
  repetitions: number;
  device: string;
  /** A photograph whose parts are the frames; a synthetic scene unless given. */
  scene?: string;
}

export const frameSize = { width: 1920, height: 1080 };

/**
 * Compares the whole way of JPEG frames — listed, leased, read, decoded, computed, merged, written, by a coordinator and
 * one node in processes of their own — with decoding alone on the same cores, in turns. Returns the table.
 */
export async function benchFrames(options: BenchFramesOptions, note: (line: string) => void): Promise<string> {
  const signal = shutdownSignal();
  const stopped = aborted(signal).then(() => Promise.reject(new Error(`Stopped by ${signal.reason}`)));
  // Whoever waits for it sees the error; until then it is not an unhandled one.
  stopped.catch(() => {});
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
  const cluster = await startLocalCluster({ nodes: 1, device: options.device, note });
  const client = connectCoordinator(cluster.address, createClientSecurity({}));
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
  { frames, quality, repetitions, scene }: BenchFramesOptions,
  note: (line: string) => void,
): Promise<string> {
  const size = frameSize;
  const source = join(folder, 'frames');
  const jpegs = await makeFrames(source, frames, size, { kind: 'jpg', quality }, await openScene(size, scene));
  const bytes = jpegs.reduce((sum, jpeg) => sum + jpeg.length, 0) / jpegs.length;
  note(
    `${frames} JPEG frames of ${size.width} x ${size.height}, quality ${quality}, ${Math.round(bytes / 1000)} kB each`,
  );

  await processFrames(client, source, folder, 'warm-up');
  await measureDecodeRate(jpegs, size, Math.min(frames, 200));
  const decoding: number[] = [];
  const whole: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    decoding.push(await measureDecodeRate(jpegs, size, frames));
    whole.push(frames / (await processFrames(client, source, folder, `run-${i}`)));
    note(`${i + 1} of ${repetitions}: ${whole[i]!.toFixed(0)} frames/s, ${decoding[i]!.toFixed(0)} decoding alone`);
  }
  const used = (await client.nodes()).map((node) => `${node.device?.kind} (${node.device?.name})`).join(', ');
  const threads = process.env.UV_THREADPOOL_SIZE ?? '4';
  const row = (name: string, values: number[], digits: number) => {
    const { median, min, max } = spreadOf(values);
    return [name, ...[median, min, max].map((value) => value.toFixed(digits))];
  };
  return table([
    [`${used}, ${threads} decoding threads, ${repetitions} repetitions`, 'median', 'min', 'max'],
    row('decoding alone, frames/s', decoding, 0),
    row('end to end, frames/s', whole, 0),
    row(
      'end to end / decoding alone',
      whole.map((rate, i) => rate / decoding[i]!),
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
