// Measures what watching adds to a job, part by part: processor time of a scrape of a coordinator and of a node, and of
// the spans of a shard.
//   npm run lab -- watching-parts
// Each is repeated until nothing else matters, also on a machine that others use. Scrapes are also made once a second,
// as Prometheus does: V8 compiles for speed what runs often, and caches forget in a second.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { openSpanExport } from '@halogrid/service/span-export';
import { JobSpans } from '../../../apps/coordinator/src/dispatch/job-spans.ts';
import { Cluster } from '../../../test/cluster.ts';
import { drawPicture, writePgm } from '../../../test/picture-files.ts';
import { scratchFolder } from '../../../test/scratch-folder.ts';
import { processMs } from './process-ms.ts';

const scrapes = 400;
const seconds = 20;
const shards = 20_000;
const repetitions = 5;
const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';

const folder = scratchFolder();
for (let i = 0; i < 64; i++) await writePgm(join(folder, `${i}.pgm`), drawPicture(640, 480, i));
const cluster = await Cluster.start();
// A job makes all series.
await cluster.jobs.run({ sources: [folder], batchFrames: 4, out: join(scratchFolder(), 'out') });
const [coordinator] = cluster.coordinator.pidsOf('coordinator');
const [node] = cluster.nodes;
const processes = [
  { name: 'coordinator', pid: coordinator!, http: cluster.http },
  { name: 'node', pid: node!.pid, http: node!.http },
];
for (const { name, pid, http } of processes) {
  const spent: number[] = [];
  for (let i = 0; i <= repetitions; i++) {
    const before = processMs(pid);
    for (let done = 0; done < scrapes; done++) await scrape(http);
    // The first turn compiles.
    if (i > 0) spent.push((processMs(pid) - before) / scrapes);
  }
  say(`a scrape of the ${name}, one after another`, spent, 'ms');
}
const apart = processes.map(() => [] as number[]);
for (let i = 0; i < repetitions; i++) {
  const [idle, scraped] = [await secondsOfAll(false), await secondsOfAll(true)];
  for (const [at, spent] of apart.entries()) spent.push(scraped[at]! - idle[at]!);
}
for (const [at, { name }] of processes.entries()) say(`a scrape of the ${name}, once a second`, apart[at]!, 'ms');
await cluster.stop();

const listening = Promise.withResolvers<number>();
const collector = new Worker(
  `const { createServer } = require('node:http');
   const server = createServer((request, response) => request.resume().on('end', () => response.end('{}')));
   server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port));`,
  { eval: true },
);
collector.once('message', listening.resolve);
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${await listening.promise}`;
const spans = [0, 1, 2, 3, 4].map((i) => {
  return { stage: ['shard', 'read', 'decode', 'device', 'encode'][i]!, from: i * 0.01, to: 0.05 + i * 0.01 };
});
const times = { leasedAtMs: 0, answeredMs: 100, mergedMs: 101, mergeSeconds: 0.001, stageSeconds: {} };
const spent: number[] = [];
for (let i = 0; i <= repetitions; i++) {
  const out = (await openSpanExport())!;
  const told = new JobSpans(out, { monotonicMs: () => performance.now(), wallMs: () => Date.now() });
  const before = process.threadCpuUsage();
  told.jobStarted('job');
  for (let shard = 0; shard < shards; shard++) {
    told.merged('job', { shard, attempt: 1, node: 'n1', pixels: 1, spans, ...times });
    // In a coordinator, too, answers come one after another, and groups of spans are sent meanwhile.
    if (shard % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await out.close();
  const { user, system } = process.threadCpuUsage(before);
  if (i > 0) spent.push((user + system) / shards);
}
say('the spans of a shard', spent, 'µs');
await collector.terminate();

async function scrape(http: string): Promise<void> {
  await (await fetch(`${http}/metrics`, { headers: { accept } })).arrayBuffer();
}

/** Milliseconds of processor time that each process takes a second without a job, with a scrape a second or none. */
async function secondsOfAll(isScraped: boolean): Promise<number[]> {
  const before = processes.map(({ pid }) => processMs(pid));
  for (let second = 0; second < seconds; second++) {
    if (isScraped) await Promise.all(processes.map(({ http }) => scrape(http)));
    await delay(1_000);
  }
  return processes.map(({ pid }, at) => (processMs(pid) - before[at]!) / seconds);
}

function say(what: string, values: readonly number[], unit: string): void {
  const [least, middle, most] = [0, Math.floor(values.length / 2), values.length - 1].map(
    (at) => values.toSorted((a, b) => a - b)[at]!,
  );
  console.log(`${what}: ${middle!.toFixed(2)} ${unit} of processor time (${least!.toFixed(2)} to ${most!.toFixed(2)})`);
}
