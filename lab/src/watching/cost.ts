// Measures processor time a frame of two clusters. One sends spans to a collector and is scraped every second, the
// other is not watched.
//   npm run lab -- watching-cost [ROUNDS] [PAIRS] [FRAMES] [WIDTH] [HEIGHT]
// On a machine that others use, throughput is not good to a hundredth. Processor time of many short jobs in turns is:
// of the coordinator more than of nodes, which compute. Each round has processes of its own, because two that do the
// same differ by more than what is measured.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { spreadOf } from '@halogrid/bench/statistics';
import { Cluster } from '../../../test/cluster.ts';
import { drawPicture, writePgm } from '../../../test/picture-files.ts';
import { scratchFolder } from '../../../test/scratch-folder.ts';
import { processMs } from './process-ms.ts';

const [rounds = 3, pairs = 12, frames = 1000, width = 640, height = 480] = process.argv.slice(2).map(Number);
const size = { width, height };
const everyMs = 1_000;
const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
const folder = scratchFolder();
const results = scratchFolder();

let spanBytes = 0;
const collector = createServer((request, response) => {
  request.on('data', (data) => {
    spanBytes += data.length;
  });
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
}).listen(0, '127.0.0.1');
for (let i = 0; i < frames; i++) await writePgm(join(folder, `${i}.pgm`), drawPicture(size.width, size.height, i));

/** Processor time, in seconds. */
interface Cost {
  coordinator: number;
  nodes: number;
}
const pairsDone: { plain: Cost; watched: Cost }[] = [];
let scrapes = 0;
let jobs = 0;
for (let round = 0; round < rounds; round++) {
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const [plain, watched] = await Promise.all([
    Cluster.start({ maxLifeMs: 3_600_000 }),
    Cluster.start({ maxLifeMs: 3_600_000, env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } }),
  ]);
  const scraping = setInterval(() => {
    for (const { http } of [watched, ...watched.nodes]) {
      scrapes++;
      void fetch(`${http}/metrics`, { headers: { accept } }).then((answer) => answer.arrayBuffer());
    }
  }, everyMs);
  // The first jobs start threads and compile code.
  for (const cluster of [plain, watched, plain, watched]) await costOfJob(cluster);
  for (let pair = 0; pair < pairs; pair++) {
    const inOrder = [['plain', plain] as const, ['watched', watched] as const];
    const cost: Partial<(typeof pairsDone)[number]> = {};
    for (const [name, cluster] of pair % 2 === 0 ? inOrder : inOrder.toReversed())
      cost[name] = await costOfJob(cluster);
    pairsDone.push(cost as Required<typeof cost>);
  }
  clearInterval(scraping);
  await Promise.all([plain.stop(), watched.stop()]);
}
collector.close();

console.log(
  `${pairsDone.length} pairs of jobs of ${frames} frames of ${size.width} x ${size.height}; ${scrapes} scrapes, ${spanBytes} bytes of spans`,
);
const total = ({ coordinator, nodes }: Cost): number => coordinator + nodes;
const parts = { coordinator: (cost: Cost) => cost.coordinator, nodes: (cost: Cost) => cost.nodes, total };
for (const [name, part] of Object.entries(parts)) {
  const perFrame = (which: 'plain' | 'watched'): string =>
    ((1e6 * spreadOf(pairsDone.map((pair) => part(pair[which]))).median) / frames).toFixed(1);
  const percents = pairsDone.map((pair) => (100 * (part(pair.watched) - part(pair.plain))) / total(pair.plain));
  const { median, mean, stdev } = spreadOf(percents);
  const [lower, upper] = [0.25, 0.75].map((share) => quantile(percents, share).toFixed(2));
  console.log(
    `${name}: plain ${perFrame('plain')} and watched ${perFrame('watched')} µs a frame (medians); watched less plain, of what a plain job costs in all: ` +
      `median ${median.toFixed(2)} %, quartiles ${lower} and ${upper} %, mean ${mean.toFixed(2)} ± ${(stdev / Math.sqrt(percents.length)).toFixed(2)} %`,
  );
}

/** Runs a job. Resolves with the seconds that it cost the coordinator and the nodes. */
async function costOfJob(cluster: Cluster): Promise<Cost> {
  const before = costSoFar(cluster);
  await cluster.jobs.run({ sources: [folder], batchFrames: 16, out: join(results, `out-${++jobs}`) });
  const after = costSoFar(cluster);
  return { coordinator: after.coordinator - before.coordinator, nodes: after.nodes - before.nodes };
}

function costSoFar({ coordinator, nodes }: Cluster): Cost {
  const seconds = (pid: number): number => processMs(pid) / 1000;
  return {
    coordinator: seconds(coordinator.pidsOf('coordinator')[0]!),
    nodes: nodes.reduce((sum, { pid }) => sum + seconds(pid), 0),
  };
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.round(share * (values.length - 1))]!;
}
