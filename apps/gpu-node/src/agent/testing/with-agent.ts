// A node whose shards end when the test says so, with fake coordinators.
import assert from 'node:assert/strict';
import { type FoundAnswer, Hello, Lease, ShardCompleted } from '@halogrid/proto';
import { createClientSecurity } from '@halogrid/service';
import { createLog } from '@halogrid/service/log';
import { createRegistry } from '@halogrid/service/metrics';
import { eventually, within } from '@halogrid/testing';
import { NodeMetrics } from '../../metrics/node-metrics.ts';
import { Agents } from '../agents.ts';
import { createDial } from '../dial.ts';
import { FakeCoordinator } from './fake-coordinator.ts';

export const hello = Hello.create({ nodeId: 'id', name: 'node', protocol: 1, creditBytes: 800 });

/** An executor whose shards wait for the test to finish them. */
function createShards() {
  const shards: { lease: Lease; signal: AbortSignal; finish: () => void; fail: (error: Error) => void }[] = [];
  const execute = (lease: Lease, signal: AbortSignal) =>
    new Promise<FoundAnswer>((resolve, fail) => {
      const { jobId, shard, attempt, epoch } = lease;
      const finish = () => resolve({ ...ShardCompleted.create({ jobId, shard, attempt, epoch }), results: [] });
      shards.push({ lease, signal, finish, fail });
    });
  return { shards, execute };
}

export type AgentOfTest = {
  agent: Agents;
  metrics: NodeMetrics;
  loseDevice: (reason: string) => void;
  /** Resolves with the first warning of the log. */
  warned: Promise<string>;
} & ReturnType<typeof createShards>;

/** Waits until `count` shards have begun. */
export const begun = (shards: readonly unknown[], count: number): Promise<boolean> =>
  eventually(`${count} shards to be begun`, () => shards.length >= count);

export async function withAgent(
  coordinator: FakeCoordinator,
  use: (test: AgentOfTest) => Promise<void>,
  addresses = [coordinator.address],
  nameOf?: (address: string) => string | undefined,
): Promise<void> {
  const shards = createShards();
  const metrics = new NodeMetrics(createRegistry('node'));
  let loseDevice!: (reason: string) => void;
  const deviceGone = new Promise<string>((resolve) => {
    loseDevice = resolve;
  });
  const log = createLog('test', 'silent');
  const warned = new Promise<string>((resolve) => {
    log.warn = (sentence: unknown) => resolve(String(sentence));
  });
  const agent = new Agents({
    addresses,
    nameOf,
    hello,
    drainTimeoutMs: 8_000,
    dial: createDial(createClientSecurity({}), assert.fail),
    execute: shards.execute,
    deviceGone,
    look: async ({ probe }) => ({ probe, files: [], error: '' }),
    search: async ({ search, version }) => ({ search, version, rankings: [], error: 'No index' }),
    log,
    metrics,
    nowMs: () => performance.now(),
    random: () => 0,
  });
  try {
    await use({ agent, metrics, loseDevice, warned, ...shards });
  } finally {
    loseDevice('The test is over');
    await within('the end of the node', agent.ended);
    coordinator.close();
  }
}

/** As `withAgent`, for a node of coordinators with these epochs at the addresses of one name; all end with the test. */
export async function withRecords(
  epochs: readonly number[],
  use: (test: { coordinators: FakeCoordinator[] } & AgentOfTest) => Promise<void>,
  toFirst = (coordinators: FakeCoordinator[]) => [coordinators[0]!.address],
): Promise<void> {
  const coordinators = epochs.map((epoch) => Object.assign(new FakeCoordinator(), { epoch }));
  for (const coordinator of coordinators) await coordinator.start();
  const nameOf = (address: string) => (address.startsWith('127.0.0.1:') ? 'coordinators' : undefined);
  try {
    await withAgent(coordinators[0]!, (test) => use({ coordinators, ...test }), toFirst(coordinators), nameOf);
  } finally {
    for (const coordinator of coordinators) coordinator.close();
  }
}

/** As `withAgent`, for a node of two coordinators; both end with the test. */
export async function withTwoCoordinators(
  use: (test: { a: FakeCoordinator; b: FakeCoordinator } & AgentOfTest) => Promise<void>,
): Promise<void> {
  const [a, b] = [new FakeCoordinator(), new FakeCoordinator()];
  await a.start();
  await b.start();
  try {
    await withAgent(a, (test) => use({ a, b, ...test }), [a.address, b.address]);
  } finally {
    b.close();
  }
}

export const lease = (shard: number): Lease => Lease.create({ jobId: 'job', shard, attempt: 1, epoch: 7 });
