import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { PlannedStep } from '@halogrid/jobs/shard';
import { createPipeline } from '@halogrid/kernels';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import { Hello, JobSpec } from '@halogrid/proto';
import { systemClock } from '@halogrid/service/clock';
import { createLog } from '@halogrid/service/log';
import { createRegistry, Gauge, type Registry } from '@halogrid/service/metrics';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { createMetrics } from './dispatch/work-metrics.ts';
import { exposeLeadership, exposeState } from './expose-state.ts';
import { noOutput, noTables } from './testing/no-tables.ts';

const folder = await mkdtemp(join(tmpdir(), 'halogrid-metrics-'));
after(() => rm(folder, { recursive: true, force: true }));

const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);
const spec = JobSpec.fromPartial({
  sources: ['file:///in'],
  pipeline: { operations: [{ kernel: 'lbp', parameters: {} }] },
  mapFormat: 'none',
});
const connection = {
  welcome() {},
  lease() {},
  recall() {},
  bring() {},
  kept() {},
  probe() {},
  search() {},
  creditTaken() {},
  drop() {},
};
/** Jobs are planned until the end, because a thousand nodes that look for shards of a hundred jobs take 20 s. */
const end = Promise.withResolvers<void>();
async function* plan(): AsyncGenerator<PlannedStep[]> {
  await end.promise;
  yield [];
}

/**
 * The median of seven scrapes, in milliseconds of processor time, which does not depend on other work of the machine.
 */
async function scrapeMs(registry: Registry): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 7; i++) {
    const before = process.cpuUsage();
    await registry.metrics();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  return times.toSorted((a, b) => a - b)[3]!;
}

test('with 1,000 nodes and 100 jobs a scrape costs little more than writing its series, and no job has a series of its own', async (t) => {
  const registry = createRegistry('coordinator');
  const ledger = await openLogLedger(folder);
  const dispatcher = new Dispatcher({
    ledger,
    work: { plan, tables: () => noTables, finalise: async () => noOutput, abandon: async () => false, release() {} },
    clock: systemClock,
    reportWithinMs: 600_000,
    metrics: createMetrics(registry),
    log: createLog('test', 'silent'),
  });
  t.after(async () => {
    end.resolve();
    await dispatcher.close();
    await ledger.close();
  });
  exposeState(registry, dispatcher.view, ledger);
  exposeLeadership(registry, { standby: undefined, epoch: 1 });
  for (let i = 0; i < 1_000; i++) {
    const device = { kind: 'gpu', gpu: { uuid: `GPU-${i}`, pciBusId: '0' } };
    dispatcher.nodes.attach(
      Hello.fromPartial({ nodeId: `${i}`, name: `node-${i}`, creditBytes: 1000, device }),
      connection,
    );
  }
  const submit = (jobId: string) =>
    dispatcher.jobs.submit({
      jobId,
      spec: { ...spec, out: `file:///out/${jobId}` },
      pipeline,
      scratch: `file:///${jobId}`,
    });
  for (let i = 0; i < 100; i++) await submit(`job-${i}`);

  const series = async () => (await registry.metrics()).split('\n').filter((line) => line.startsWith('halogrid_'));
  const plain = createRegistry('coordinator');
  const gauge = new Gauge({ name: 'plain', help: 'Plain', labelNames: ['node'], registers: [plain] });
  for (let i = 0; i < 2_000; i++) gauge.set({ node: `node-${i}` }, i);
  const [plainMs, ms] = [await scrapeMs(plain), await scrapeMs(registry)];
  t.diagnostic(`${ms} ms a scrape, ${plainMs} ms of plain series`);
  assert.ok(ms < 20 * plainMs, `${ms} ms a scrape, ${plainMs} ms of plain series`);

  const before = await series();
  assert.equal(before.filter((line) => line.includes('node="node-')).length, 2 * 1_000);
  await submit('job-100');
  assert.equal((await series()).length, before.length);
});
