// Measures shards a second through the scheduler, the dispatcher and the ledger, with nodes that answer at once.
//   npm run lab -- scheduler [sqlite] [SHARDS] [NODES …]
// With `sqlite` the registry is a file of SQLite, as that of a coordinator; otherwise it is in memory. Logs are files.
// Prints a line for each number of nodes: wall time, processor time, and the memory of an open shard.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlanStep } from '@halogrid/jobs/shard';
import { batchSteps } from '@halogrid/jobs/testing-planned';
import { createPipeline } from '@halogrid/kernels';
import { MemoryRegistry, openRegistry } from '@halogrid/ledger';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import { Hello, JobSpec } from '@halogrid/proto';
import { packSums } from '@halogrid/results/part-sums';
import { systemClock } from '@halogrid/service/clock';
import { createLog } from '@halogrid/service/log';
import { createRegistry } from '@halogrid/service/metrics';
import { Dispatcher } from '../../../apps/coordinator/src/dispatch/dispatcher.ts';
import type { LeaseOrder } from '../../../apps/coordinator/src/dispatch/node-session.ts';
import { createMetrics } from '../../../apps/coordinator/src/dispatch/work-metrics.ts';
import { noOutput, noTables } from '../../../apps/coordinator/src/testing/no-tables.ts';

const usesSqlite = process.argv.includes('sqlite');
const numbers = process.argv.slice(2).filter((word) => word !== 'sqlite');
const [shards = 200_000, ...nodeCounts] = numbers.map(Number);
const folder = await mkdtemp(join(tmpdir(), 'halogrid-bench-'));
const operations = [{ kernel: 'lbp', parameters: {} }];
/** The answer of a node for a frame of 3 x 3 pixels, with a part that nobody reads. */
const place = { firstGroup: 3, groups: 1, start: 1_000_000, length: 1_500, checksum: 2 ** 31 };
const bins = new BigUint64Array(256);
bins[0] = 1n;
const found = {
  part: '8c5e4f0a-3c38-4b0e-9d0e-6f6f5b1c2a7d',
  places: [{ sources: place, features: place }],
  found: 1,
  pixels: 9,
  digest: new Uint8Array(32).fill(7),
  parts: [packSums(1n, bins)],
};

async function* plan(): AsyncGenerator<PlanStep[]> {
  for (let index = 0; index < shards; index++) {
    const uri = `file:///in/${index}.pgm`;
    yield batchSteps(index, [{ index, uri }], 9);
  }
}

/** Attaches a node that answers leases in order, a few at a time, like messages from a socket. */
function attachNode(dispatcher: Dispatcher, nodeId: string): void {
  const orders: LeaseOrder[] = [];
  const answer = (): void => {
    for (const { lease } of orders.splice(0)) {
      const content = { results: [], found, errors: [], stageSeconds: {}, inputBytes: 0 };
      dispatcher.nodes.report(session, { kind: 'ShardCompleted', lease, answer: content });
    }
  };
  const session = dispatcher.nodes.attach(Hello.fromPartial({ nodeId, name: nodeId, creditBytes: 1000 }), {
    welcome: () => {},
    lease: (order) => {
      if (orders.push(order) === 1) setImmediate(answer);
    },
    recall: () => {},
    bring: () => {},
    kept: () => {},
    probe: ({ probe }) => {
      setImmediate(() => {
        dispatcher.nodes.report(session, { kind: 'NodeLooked', sight: { probe, files: [], error: '' } });
      });
    },
    search: () => {},
    creditTaken: () => {},
    drop: () => {},
  });
}

async function measure(nodes: number): Promise<string> {
  const path = join(folder, `${nodes}.sqlite`);
  const registry = usesSqlite ? await openRegistry(path) : new MemoryRegistry();
  const ledger = await openLogLedger(join(folder, String(nodes)), registry);
  const done = Promise.withResolvers<void>();
  let highestBytes = 0;
  const dispatcher = new Dispatcher({
    ledger,
    work: {
      plan,
      tables: () => noTables,
      finalise: async () => {
        done.resolve();
        return noOutput;
      },
      abandon: async (_job, end) => {
        done.reject(new Error(JSON.stringify(end)));
        return false;
      },
      release: () => {},
    },
    clock: systemClock,
    reportWithinMs: 600_000,
    metrics: createMetrics(createRegistry('coordinator')),
    log: createLog('bench', 'silent'),
  });
  for (let node = 0; node < nodes; node++) attachNode(dispatcher, `node-${node}`);
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const started = performance.now();
  const cpu = process.cpuUsage();
  const sampler = setInterval(() => {
    highestBytes = Math.max(highestBytes, process.memoryUsage().heapUsed - before);
  }, 100);
  const spec = JobSpec.fromPartial({
    sources: ['file:///in'],
    pipeline: { operations },
    out: 'file:///out',
    mapFormat: 'none',
  });
  await dispatcher.jobs.submit({
    jobId: 'job',
    spec,
    pipeline: createPipeline(operations),
    scratch: 'file:///out/.scratch',
  });
  await done.promise;
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(sampler);
  globalThis.gc?.();
  const kept = (process.memoryUsage().heapUsed - before) / shards;
  await dispatcher.close();
  await ledger.close();
  await registry.close();
  const cpuSeconds = (user + system) / 1e6;
  return [
    `${nodes} nodes: ${shards} shards in ${seconds.toFixed(2)} s, ${Math.round(shards / seconds)} a second`,
    `${Math.round(shards / cpuSeconds)} a second of CPU time`,
    `${Math.round(kept)} bytes kept a shard, ${Math.round(highestBytes / 2 ** 20)} MiB at most`,
  ].join('; ');
}

for (const nodes of nodeCounts.length > 0 ? nodeCounts : [10, 100, 1000]) console.log(await measure(nodes));
await rm(folder, { recursive: true, force: true });
