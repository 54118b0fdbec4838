// What answers of small frames cost a coordinator, without pixels: real gRPC on loopback, a real ledger,
// features.parquet and the final files:
//   node test/bench/coordinator/answers.ts [FRAMES] [NODES] [REPETITIONS] [--kill-at=FRAMES] [--cpu-prof-dir=DIR]
// The coordinator has the flags and the environment that `halogrid coordinator` gives it.
// Prints for each repetition microseconds of processor time a frame of 256 bins, of all threads and of the main one,
// until the last result and until the end of the job, and of long jobs what memory the coordinator takes after each
// million frames. The nodes are in this process, which is not counted. With --kill-at it is killed once so many frames
// are done, and another goes on with its job: how long that takes to the first lease is printed. With a folder for
// profiles the coordinator leaves one of each of its threads there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { credentials } from '@grpc/grpc-js';
import { type AttachRequest, Hello, type Lease, NodesClient, protocolVersion, splitAnswer } from '@halogrid/proto';
import { writeChunk } from '@halogrid/results';
import type { FoundShard } from '@halogrid/results/found-shard';
import { PartThread } from '@halogrid/results/part-thread';
import { resultsVersion } from '@halogrid/service';
import { type BlockSource, SourceBlock } from '@halogrid/sources/source-block';
import { environment, nodeFlags } from '../../../apps/cli/bin/launch.mjs';
import { openJobParts } from '../../../apps/gpu-node/src/parts/job-parts.ts';
import { NodeParts } from '../../../apps/gpu-node/src/parts/node-parts.ts';

const profiles = process.argv.filter((word) => word.startsWith('--cpu-prof'));
const killAt = Number(/--kill-at=(\d+)/.exec(process.argv.join(' '))?.[1] ?? Number.POSITIVE_INFINITY);
const [frames = 200_000, nodes = 4, repetitions = 3] = process.argv
  .slice(2)
  .filter((word) => !word.startsWith('--'))
  .map(Number);

const [width, height] = [320, 240];
const counted = (width - 2) * (height - 2);
const rect = { x: 0, y: 0, width, height };
/** As uneven as those of photographs, a thousand different ones. */
const histograms = Array.from({ length: 1000 }, (_, seed) => {
  const bins = new Uint32Array(256);
  let left = counted;
  for (let bin = 0; bin < 255; bin++) {
    const share = Math.floor((left * (((bin * 37 + seed * 11) % 29) + 1)) / 900);
    bins[(bin * 91) % 256] = share;
    left -= share;
  }
  bins[(255 * 91) % 256] = left;
  return bins;
});

async function writePreview(scratch: string, source: number): Promise<void> {
  const chunk = { scratch, source, size: { width, height }, rect, type: { sample: 'u8' as const, bands: 1 } };
  const samples = { bytes: new Uint8Array(width * height), strideBytes: width, bandBytes: width * height };
  for (const kind of ['preview', 'sums'] as const) await writeChunk({ ...chunk, kind }, samples);
}

function shardOf(block: Uint8Array, sources: readonly BlockSource[]): FoundShard {
  const { length } = sources;
  const bins = new Uint32Array(256 * length);
  for (const [i, { index }] of sources.entries()) bins.set(histograms[index % 1000]!, 256 * i);
  return {
    ...{ block, found: Uint32Array.from(sources.keys()) },
    ...{ widths: new Uint32Array(length).fill(width), heights: new Uint32Array(length).fill(height) },
    parts: [{ counted: new Float64Array(length).fill(counted), bins }],
  };
}

const creditBytes = 2 ** 30;
const thread = new PartThread();

/** Told of every lease. */
let leased = (): void => {};

function attach(port: number, name: string): NodesClient {
  const client = new NodesClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const call = client.attach();
  const say = (report: AttachRequest['report']): void => void call.write({ report });
  const device = { kind: 'cpu', name: 'none', driver: '' };
  const versions = { protocol: protocolVersion, resultsVersion };
  say({ $case: 'hello', value: Hello.fromPartial({ nodeId: name, name, ...versions, device, creditBytes }) });
  const parts = new NodeParts({ open: (lease) => openJobParts(thread, lease), creditBytes });
  const answer = async (lease: Lease): Promise<void> => {
    const { jobId, shard, attempt, epoch, work, scratch, sources: block } = lease;
    if (work?.$case !== 'frames') throw new Error('Expected frames');
    const held = parts.hold(lease);
    const sources = [...new SourceBlock(block)];
    for (const { index, preview } of sources) if (preview) await writePreview(scratch, index);
    const { found } = await held.keep(shardOf(block, sources));
    held.release();
    const rest = { results: [], errors: [], stageSeconds: { decode: 1 }, busySeconds: {}, inputBytes: 1 };
    for (const report of splitAnswer({ jobId, shard, attempt, epoch, found, ...rest })) say(report);
  };
  call.on('data', ({ order }) => {
    if (order?.$case === 'lease') {
      leased();
      void answer(order.value);
    }
    if (order?.$case !== 'probe') return;
    const { probe, files } = order.value;
    const seen = files.map(() => ({ version: 'x', sha256: Buffer.alloc(32), error: '' }));
    say({ $case: 'sight', value: { probe, files: seen, error: '' } });
  });
  call.on('error', () => {});
  return client;
}

interface Served {
  child: ReturnType<typeof serve>;
  lines: AsyncIterator<string>;
  clients: NodesClient[];
}

function serve(folder: string) {
  const program = new URL('./serve.ts', import.meta.url).pathname;
  const words = [...nodeFlags(['coordinator']), ...profiles, program, String(frames), String(nodes), folder];
  return spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], env: environment() });
}

async function start(folder: string): Promise<Served> {
  const child = serve(folder);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { port } = JSON.parse((await lines.next()).value!);
  return { child, lines, clients: Array.from({ length: nodes }, (_, node) => attach(port, `node-${node}`)) };
}

/** Kills the coordinator; resolves with another, which has given its first lease of the same job. */
async function killAndGoOn({ child, clients }: Served, folder: string): Promise<Served> {
  child.kill('SIGKILL');
  await once(child, 'exit');
  for (const client of clients) client.close();
  const first = Promise.withResolvers<void>();
  leased = first.resolve;
  const startMs = performance.now();
  const next = await start(folder);
  const servedMs = performance.now();
  await first.promise;
  const seconds = (ms: number) => ((ms - startMs) / 1000).toFixed(2);
  console.log(`killed; another serves after ${seconds(servedMs)} s, and leases after ${seconds(performance.now())} s`);
  return next;
}

for (let i = 0; i < repetitions; i++) {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
  let served = await start(folder);
  let isKilled = false;
  const next = async () => JSON.parse((await served.lines.next()).value!);
  let end = await next();
  for (; 'done' in end; end = await next()) {
    console.log(`${(end.done / 1e6).toFixed(2)} million frames: ${Math.round(end.rss / 2 ** 20)} MB`);
    if (isKilled || end.done < killAt) continue;
    isKilled = true;
    served = await killAndGoOn(served, folder);
  }
  const { state, digest, computed, whole, rss } = end;
  const say = ({ all, main, seconds }: Record<string, number>): string =>
    `${all!.toFixed(1)} µs, main thread ${main!.toFixed(1)} µs, ${seconds!.toFixed(1)} s`;
  console.log(
    `${state} ${digest.slice(0, 8)}: results ${say(computed)}; whole job ${say(whole)}; ${Math.round(rss / 1024)} MB`,
  );
  for (const client of served.clients) client.close();
  if (served.child.exitCode === null) await once(served.child, 'exit');
  await rm(folder, { recursive: true });
}
await thread.end();
