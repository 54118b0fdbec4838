// node test/bench/watching/cost.ts [ROUNDS] [PAIRS]: processor time a frame of a cluster that tells a collector of spans and is scraped every
// second, and of one that is not. Throughput of a machine that others use as well says nothing to a hundredth; processor time of many
// short jobs in turn does. Each round has processes of its own, because two that do the same differ by more than what is measured.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Cluster } from '../../cluster.ts';
import { drawPicture, writePgm } from '../../picture-files.ts';
import { scratchFolder } from '../../scratch-folder.ts';
import { processMs } from './process-ms.ts';

const [rounds = 3, pairs = 12] = process.argv.slice(2).map(Number);
const frames = 1000;
const size = { width: 640, height: 480 };
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

const ratios: number[] = [];
const costs = { plain: [] as number[], watched: [] as number[] };
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
  // Threads start, and code is compiled, with what needs them first.
  for (const cluster of [plain, watched, plain, watched]) await frameSeconds(cluster);
  for (let pair = 0; pair < pairs; pair++) {
    const inOrder = [['plain', plain] as const, ['watched', watched] as const];
    const cost = { plain: 0, watched: 0 };
    for (const [name, cluster] of pair % 2 === 0 ? inOrder : inOrder.toReversed())
      cost[name] = await frameSeconds(cluster);
    ratios.push(cost.watched / cost.plain);
    for (const name of ['plain', 'watched'] as const) costs[name].push(cost[name]);
  }
  clearInterval(scraping);
  await Promise.all([plain.stop(), watched.stop()]);
}
collector.close();

console.log(
  `${ratios.length} pairs of jobs of ${frames} frames of ${size.width} x ${size.height}; ${scrapes} scrapes, ${spanBytes} bytes of spans`,
);
for (const name of ['plain', 'watched'] as const)
  console.log(`${name}: ${(1e6 * quantile(costs[name], 0.5)).toFixed(1)} µs a frame (median)`);
const percents = [0.25, 0.5, 0.75].map((share) => `${(100 * (quantile(ratios, share) - 1)).toFixed(2)} %`);
console.log(`watched over plain, pair by pair: median ${percents[1]}, quartiles ${percents[0]} and ${percents[2]}`);

/** Does a job; processor time of the coordinator and the node a frame of it. */
async function frameSeconds(cluster: Cluster): Promise<number> {
  const before = processorSeconds(cluster);
  await cluster.jobs.run({ sources: [folder], batchFrames: 16, out: join(results, `out-${++jobs}`) });
  return (processorSeconds(cluster) - before) / frames;
}

/** Processor time of the coordinator and the nodes so far. */
function processorSeconds({ coordinator, nodes }: Cluster): number {
  const pids = [coordinator.pidsOf('coordinator')[0]!, ...nodes.map(({ pid }) => pid)];
  return pids.reduce((sum, pid) => sum + processMs(pid), 0) / 1000;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.round(share * (values.length - 1))]!;
}
