import assert from 'node:assert/strict';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { eventually, timeoutMs } from '@halogrid/testing';
import { get } from '../get.ts';
import { readJson } from '../results.ts';
import { seeded } from '../seeded.ts';
import { FaultCluster, type StartedJob, skip, slowly } from './fault-cluster.ts';

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

/** Holds back a node's answers: it computes, but the coordinator does not hear of it. */
const silenced = { up: { isHeld: true } };

/** Submits the work, and holds back a node's answers once it has some shards. */
async function submitAndSilence(name: string): Promise<StartedJob> {
  const { proxy } = faults.node(name);
  proxy.set(slowly);
  const job = await faults.submit();
  await eventually('leases of the node', async () => (await leases(name)) > 0);
  proxy.set(silenced);
  return job;
}

/** The complete parts in that folder. */
const whole = (parts: string): string[] => globSync('*', { cwd: parts }).filter((part) => !part.endsWith('.tmp'));

const chunks = ({ out }: StartedJob): number => globSync(`${out}/.halogrid/map/**/*.u8`).length;

processTest('SIGSTOP of a node beyond its deadline, and SIGCONT while others compute its shards', async () => {
  const { pid, proxy } = faults.node(one);
  // The other node's results are slowed down.
  faults.node(other).proxy.set(slowly);
  const job = await submitAndSilence(one);
  await eventually('leases of the node', async () => (await leases(one)) > 2);
  process.kill(pid, 'SIGSTOP');
  await eventually('the node to be given up', async () => !(await faults.cluster.node(one)));
  process.kill(pid, 'SIGCONT');
  // The node answers its old leases, which are ignored, dials again and takes part.
  proxy.set({});
  await faults.completesUndisturbed(job);
  await eventually('the node to be back', () => faults.cluster.node(one));
});

processTest('SIGCONT after the job is over', async () => {
  const { pid, proxy } = faults.node(one);
  const job = await submitAndSilence(one);
  await eventually('leases of the node', async () => (await leases(one)) > 2);
  process.kill(pid, 'SIGSTOP');
  await faults.completesUndisturbed(job);
  process.kill(pid, 'SIGCONT');
  proxy.set({});
  await eventually('the node to be back', () => faults.cluster.node(one));
  const { shardsDone } = (await faults.cluster.node(one))!;
  await faults.completesUndisturbed(await faults.submit());
  assert.ok((await faults.cluster.node(one))!.shardsDone > shardsDone, 'it takes part again');
});

processTest(
  'SIGKILL of a node while it computes, and of the last after it has written chunks that the coordinator has not heard of: the job waits, and goes on with the first that joins',
  async () => {
    faults.node(other).proxy.set(slowly);
    faults.node(one).proxy.set(slowly);
    const job = await faults.submit();
    await faults.shardsDone(job, 4);
    faults.node(one).proxy.set(silenced);
    await eventually('leases of the node', async () => (await leases(other)) > 0);
    process.kill(faults.node(other).pid, 'SIGKILL');
    await eventually('the node to be lost', async () => !(await faults.cluster.node(other)));
    const done = (await faults.cluster.job(job.jobId)).counts!.shardsDone;
    // A shard writes at most two chunks.
    await eventually('chunks that the coordinator does not know of', () => chunks(job) > 2 * done + 3);
    await faults.kill(one);
    await eventually('nobody to be attached', async () => !(await faults.cluster.node(one)));
    const { state, counts } = await faults.cluster.job(job.jobId);
    assert.deepEqual([String(state), counts!.shardsDone], ['JOB_STATE_RUNNING', done]);
    assert.ok((await get(`${faults.cluster.http}/readyz`)).ok);
    await faults.join('first');
    const { attempts, expired } = await faults.completesUndisturbed(job);
    const parts: { name: string; shards: number }[] = readJson(job.out, 'job.json').nodes;
    const shardsOfFirst = parts.find(({ name }) => name === 'first')!.shards;
    assert.equal(shardsOfFirst, faults.work.shards - done, 'what was committed is not computed again');
    assert.ok(expired > 0);
    assert.equal(attempts, faults.work.shards + expired);
  },
);

processTest('SIGTERM of a node: it finishes its shards even over a slow network, and wastes nothing', async () => {
  faults.node(one).proxy.set({ up: { bytesPerSecond: 40_000, latencyMs: 50 }, down: { latencyMs: 50 } });
  faults.node(other).proxy.set(slowly);
  const job = await faults.submit();
  // It has at least one lease while its first answer is on its way, and more if the other node leaves it some.
  await eventually('leases of the node', async () => (await leases(one)) > 0);
  const { program } = faults.node(one);
  program.signal('SIGTERM');
  const { code, stderr } = await program.ended;
  // Whether it still had a shard when the signal came is a race.
  assert.ok(code === 0 || code === 75, stderr);
  await faults.forget(one);
  const { attempts } = await faults.completesUndisturbed(job);
  assert.equal(attempts, faults.work.shards);
});

processTest('SIGKILL of a node that does not drain in time', async (t) => {
  faults.node(other).proxy.set(slowly);
  const job = await faults.submit();
  await eventually('leases of the node', async () => (await leases(one)) > 0);
  const { program, proxy } = faults.node(one);
  program.signal('SIGTERM');
  await eventually('the coordinator to know', async () => (await faults.cluster.node(one))?.draining);
  proxy.set(silenced);
  // The node may just have answered the last of them.
  t.diagnostic(`${await leases(one)} leases that it cannot answer`);
  await faults.kill(one);
  await faults.completesUndisturbed(job);
});

processTest(
  `SIGKILL of the coordinator at ${runs} random moments of one job, and then while parts are gone`,
  async (t) => {
    const random = seeded(seed);
    // Leases are slowed down, so that the job outlasts all kills.
    const down = { bytesPerSecond: Math.max(800, 6_000 / runs) };
    for (const name of [one, other]) faults.node(name).proxy.set({ down });
    const job = await faults.submit();
    const parts = join(job.out, '.halogrid', 'parts');
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
    for (const name of [one, other]) faults.node(name).proxy.set({});
    const { attempts } = await faults.resumesUndisturbed(job);
    assert.ok(attempts > faults.work.shards);
  },
);

processTest('SIGSTOP of the coordinator for longer than nodes wait for a message', async () => {
  for (const name of [one, other]) faults.node(name).proxy.set(slowly);
  const job = await faults.submit();
  await faults.shardsDone(job, 20);
  const [pid] = faults.cluster.coordinator.pidsOf('coordinator');
  const proxies = [one, other].map((name) => faults.node(name).proxy);
  const dialled = proxies.map(({ accepted }) => accepted);
  process.kill(pid!, 'SIGSTOP');
  try {
    await eventually('the nodes to dial again', () => proxies.every((proxy, i) => proxy.accepted > dialled[i]!));
  } finally {
    process.kill(pid!, 'SIGCONT');
  }
  await faults.completesUndisturbed(job);
});
