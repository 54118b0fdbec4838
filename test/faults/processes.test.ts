import assert from 'node:assert/strict';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { eventually, timeoutMs } from '@halogrid/testing';
import { get } from '../get.ts';
import { readMetrics } from '../read-metrics.ts';
import { readJson } from '../results.ts';
import { seeded } from '../seeded.ts';
import { FaultCluster, type StartedJob, silenced, skip, slowly, unleased } from './fault-cluster.ts';

// Whatever ends or stops the process of a node or the coordinator, a job gives the same bytes, and accepted results are
// not computed again.

/** Silence that makes a node count as lost. */
const nodeTimeoutMs = timeoutMs(4_000);

/** How many kills. Each takes six seconds, because a start waits for the end of the earlier lease. */
const runs = Number(process.env.HALOGRID_FAULT_RUNS ?? 1);
const seed = Number(process.env.HALOGRID_FAULT_SEED ?? 1);

let faults: FaultCluster;
/** Names of two attached nodes; those that a test left are used by the next. */
let [one, other] = ['', ''];

before(async () => {
  if (!skip) faults = await FaultCluster.start(['a', 'b'], nodeTimeoutMs);
});
beforeEach(async () => {
  if (!skip) [one, other] = await faults.haveTwo();
});
after(() => faults?.stop());

const processTest = (sentence: string, act: (t: TestContext) => Promise<void>) => test(sentence, { skip }, act);

const leases = async (name: string): Promise<number> => (await faults.cluster.node(name))?.leases ?? 0;

const leased = (name: string) => eventually(`leases of ${name}`, async () => (await leases(name)) > 0);

/** The complete parts in that folder. */
const whole = (parts: string): string[] => globSync('*', { cwd: parts }).filter((part) => !part.endsWith('.tmp'));

const chunks = ({ out }: StartedJob): number => globSync(`${out}/.halogrid/map/**/*.u8`).length;

/** Submits the work, and stops the first node while it has leases, whose answers do not get through. */
async function submitAndStop(): Promise<StartedJob> {
  // The other node gets no lease before, or the job could be over.
  faults.node(other).proxy.set(unleased);
  faults.node(one).proxy.set(slowly);
  const job = await faults.submit();
  await leased(one);
  faults.node(one).proxy.set(silenced);
  process.kill(faults.node(one).pid, 'SIGSTOP');
  return job;
}

function goOn(): void {
  process.kill(faults.node(one).pid, 'SIGCONT');
  faults.node(one).proxy.set({});
}

const isBack = () => eventually('the node to be back', () => faults.cluster.node(one));

processTest(
  'SIGSTOP of a node beyond its deadline, and SIGCONT after its job is over, and then while others compute its shards',
  async () => {
    const first = await submitAndStop();
    faults.node(other).proxy.set({});
    await faults.completesUndisturbed(first);
    goOn();
    await isBack();

    // It takes part again.
    const second = await submitAndStop();
    await eventually('the node to be given up', async () => !(await faults.cluster.node(one)));
    faults.node(other).proxy.set(slowly);
    goOn();
    // It answers its old leases, which are ignored, and dials again.
    await faults.completesUndisturbed(second);
    await isBack();
  },
);

processTest(
  'SIGKILL of a node that does not drain in time, and of the last after it has written chunks that the coordinator has not heard of: the job waits, and goes on with the first that joins',
  async () => {
    for (const name of [one, other]) faults.node(name).proxy.set(slowly);
    const job = await faults.submit();
    await faults.shardsDone(job, 4);
    // The leases do not reach it, so it cannot finish them.
    faults.node(other).proxy.set(unleased);
    await leased(other);
    faults.node(other).program.signal('SIGTERM');
    await eventually('the coordinator to know', async () => (await faults.cluster.node(other))?.draining !== false);
    await faults.kill(other);

    const { proxy, http } = faults.node(one);
    proxy.set(unleased);
    await eventually('leases that are all on their way', async () => {
      return (await leases(one)) > 0 && (await readMetrics(http)).get('halogrid_node_leases') === 0;
    });
    const known = chunks(job);
    proxy.set(silenced);
    await eventually('chunks that the coordinator does not know of', () => chunks(job) > known);
    await faults.kill(one);
    await eventually('nobody to be attached', async () => !(await faults.cluster.node(one)));
    const { state, counts } = await faults.cluster.job(job.jobId);
    assert.equal(String(state), 'JOB_STATE_RUNNING');
    assert.ok((await get(`${faults.cluster.http}/readyz`)).ok);
    await faults.join('first');
    const { attempts, expired } = await faults.completesUndisturbed(job);
    const parts: { name: string; shards: number }[] = readJson(job.out, 'job.json').nodes;
    const shardsOfFirst = parts.find(({ name }) => name === 'first')!.shards;
    const left = faults.work.shards - counts!.shardsDone;
    assert.equal(shardsOfFirst, left, 'what was committed is not computed again');
    assert.ok(expired > 0);
    assert.equal(attempts, faults.work.shards + expired);
  },
);

processTest('SIGTERM of a node: it finishes its shards even over a slow network, and wastes nothing', async () => {
  for (const name of [one, other]) faults.node(name).proxy.set(slowly);
  const job = await faults.submit();
  await leased(one);
  // Its answers take longer than it waits for a coordinator that says nothing.
  const { program, proxy } = faults.node(one);
  proxy.set({ ...slowly, up: { bytesPerSecond: 1_000, sliceBytes: 100 } });
  program.signal('SIGTERM');
  const { code, stderr } = await program.ended;
  // Whether it still had a shard when the signal came is a race.
  assert.ok(code === 0 || code === 75, stderr);
  await faults.forget(one);
  const { attempts, expired } = await faults.completesUndisturbed(job);
  assert.deepEqual([attempts, expired], [faults.work.shards, 0]);
});

processTest(
  `SIGSTOP of the coordinator for longer than nodes wait for a message, SIGKILL at ${runs} random moments of one job, and then while parts are gone`,
  async (t) => {
    const random = seeded(seed);
    // Leases are slowed down, so that the job outlasts all kills.
    const down = { bytesPerSecond: Math.max(800, 6_000 / runs) };
    const proxies = [one, other].map((name) => faults.node(name).proxy);
    for (const proxy of proxies) proxy.set({ down });
    const job = await faults.submit();
    const parts = join(job.out, '.halogrid', 'parts');
    await faults.shardsDone(job, 1);
    const [pid] = faults.cluster.coordinator.pidsOf('coordinator');
    const dialled = proxies.map(({ accepted }) => accepted);
    process.kill(pid!, 'SIGSTOP');
    try {
      await eventually('the nodes to dial again', () => proxies.every((proxy, i) => proxy.accepted > dialled[i]!));
    } finally {
      process.kill(pid!, 'SIGCONT');
    }
    let [held, done] = [0, 0];
    for (let kills = 0; kills < runs; kills++) {
      const { counts } = await faults.cluster.job(job.jobId);
      assert.ok(counts!.shardsDone >= done, `${counts!.shardsDone} of ${done} shards are still done`);
      // At most half of the shards are done before the last kill.
      done = await faults.shardsDone(job, done + Math.floor((random() * faults.work.shards) / 2 / runs));
      held += (await leases(one)) + (await leases(other));
      faults.cluster.coordinator.kill();
      await faults.cluster.startCoordinatorAgain();
    }
    await eventually('parts of the job', () => whole(parts).length > 1);
    const { shardsDone, attempts: before } = (await faults.cluster.job(job.jobId)).counts!;
    assert.ok(shardsDone >= done, `${shardsDone} of ${done} shards are still done`);
    // Leases that were answered between this look and the kill were replaced by others.
    const again = before - shardsDone;
    t.diagnostic(`seed ${seed}: ${runs} kills, ${held} leases held then, ${again} attempts more than shards done`);
    faults.cluster.coordinator.kill();
    await faults.cluster.coordinator.ended;
    for (const part of whole(parts)) rmSync(join(parts, part), { recursive: true });
    await faults.cluster.startCoordinatorAgain();
    for (const proxy of proxies) proxy.set({});
    const { attempts } = await faults.resumesUndisturbed(job);
    assert.ok(attempts > faults.work.shards);
  },
);
