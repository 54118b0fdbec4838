import assert from 'node:assert/strict';
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { eventually, timeoutMs } from '@halogrid/testing';
import { get } from '../get.ts';
import { readJson } from '../results.ts';
import { seeded } from '../seeded.ts';
import { FaultCluster, type StartedJob, skip, slowly } from './fault-cluster.ts';

// Whatever ends or stops the process of a node or of the coordinator, a job ends with the same bytes, and what was
// accepted is not computed again.

/** Silence that makes a node count as lost. */
const nodeTimeoutMs = timeoutMs(4_000);

/** Kills. Each takes six seconds: a start takes as long as the lease of the one before. */
const runs = Number(process.env.HALOGRID_FAULT_RUNS ?? 1);
const seed = Number(process.env.HALOGRID_FAULT_SEED ?? 1);

let faults: FaultCluster;

before(async () => {
  if (!skip) faults = await FaultCluster.start(['a', 'b'], nodeTimeoutMs);
});
beforeEach(() => faults?.restore('a', 'b'));
after(() => faults?.stop());

const processTest = (sentence: string, act: (t: TestContext) => Promise<void>) => test(sentence, { skip }, act);

const leases = async (name: string): Promise<number> => (await faults.cluster.node(name))?.leases ?? 0;

/** Its answers stay on their way for as long as the proxy says so: it computes, and nobody hears of it. */
const silenced = { up: { isHeld: true } };

/** Submits the work, and lets nobody hear more of a node once it has some of it. */
async function submitAndSilence(name: string): Promise<StartedJob> {
  const { proxy } = faults.node(name);
  proxy.set(slowly);
  const job = await faults.submit();
  await eventually('leases of the node', async () => (await leases(name)) > 0);
  proxy.set(silenced);
  return job;
}

/** Parts in that folder that are not being written. */
const whole = (parts: string): string[] => globSync('*', { cwd: parts }).filter((part) => !part.endsWith('.tmp'));

const chunks = ({ out }: StartedJob): number => globSync(`${out}/.halogrid/map/**/*.u8`).length;

processTest('SIGKILL of a node while it computes', async () => {
  faults.node('a').proxy.set(slowly);
  const job = await faults.submit();
  await faults.shardsDone(job, 20);
  await eventually('leases of the node', async () => (await leases('a')) > 0);
  process.kill(faults.node('a').pid, 'SIGKILL');
  const { attempts, expired } = await faults.completesUndisturbed(job);
  assert.ok(expired > 0);
  assert.equal(attempts, faults.work.shards + expired);
});

processTest('SIGKILL of a node after it has written chunks and before anybody heard of them', async () => {
  await faults.kill('b');
  const job = await submitAndSilence('a');
  const known = async () => (await faults.cluster.job(job.jobId)).counts!.shardsDone;
  // A shard leaves two chunks at most.
  await eventually('chunks that nobody knows of', async () => chunks(job) > 2 * (await known()) + 3);
  await faults.kill('a');
  await faults.join('c');
  const { attempts, expired } = await faults.completesUndisturbed(job);
  assert.ok(expired > 0);
  assert.equal(attempts, faults.work.shards + expired);
});

processTest('SIGSTOP of a node beyond its deadline, and SIGCONT while others do its shards', async () => {
  const { pid, proxy } = faults.node('a');
  // What it finds stays on its way.
  faults.node('b').proxy.set(slowly);
  const job = await submitAndSilence('a');
  await eventually('leases of the node', async () => (await leases('a')) > 2);
  process.kill(pid, 'SIGSTOP');
  await eventually('the node to be given up', async () => !(await faults.cluster.node('a')));
  process.kill(pid, 'SIGCONT');
  // It answers what it held, to nobody, dials again and takes part.
  proxy.set({});
  await faults.completesUndisturbed(job);
  await eventually('the node to be back', () => faults.cluster.node('a'));
});

processTest('SIGCONT after the job is over', async () => {
  const { pid, proxy } = faults.node('a');
  const job = await submitAndSilence('a');
  await eventually('leases of the node', async () => (await leases('a')) > 2);
  process.kill(pid, 'SIGSTOP');
  await faults.completesUndisturbed(job);
  process.kill(pid, 'SIGCONT');
  proxy.set({});
  await eventually('the node to be back', () => faults.cluster.node('a'));
  await faults.completesUndisturbed(await faults.submit());
});

processTest('every node lost: the job waits, and goes on with the first that joins', async () => {
  for (const name of ['a', 'b']) faults.node(name).proxy.set(slowly);
  const job = await faults.submit();
  await faults.shardsDone(job, 20);
  await faults.kill('a');
  await faults.kill('b');
  await eventually('nobody to be attached', async () => {
    const attached = await Promise.all(['a', 'b'].map((name) => faults.cluster.node(name)));
    return attached.every((node) => !node);
  });
  const { state, counts } = await faults.cluster.job(job.jobId);
  assert.equal(String(state), 'JOB_STATE_RUNNING');
  assert.ok((await get(`${faults.cluster.http}/readyz`)).ok);
  await faults.join('c');
  const { attempts } = await faults.completesUndisturbed(job);
  const parts: { name: string; shards: number }[] = readJson(job.out, 'job.json').nodes;
  const shardsOfC = parts.find(({ name }) => name === 'c')!.shards;
  assert.ok(shardsOfC <= faults.work.shards - counts!.shardsDone, 'what was committed is not computed again');
  assert.ok(attempts > faults.work.shards);
});

processTest('SIGTERM of a node: it finishes what it holds, however slow its network, and wastes nothing', async () => {
  faults.node('a').proxy.set({ up: { bytesPerSecond: 40_000, latencyMs: 50 }, down: { latencyMs: 50 } });
  faults.node('b').proxy.set(slowly);
  const job = await faults.submit();
  // It has one at least for as long as its first answer is on its way; more where the other node leaves it some.
  await eventually('leases of the node', async () => (await leases('a')) > 0);
  const { program } = faults.node('a');
  program.signal('SIGTERM');
  const { code, stderr } = await program.ended;
  assert.equal(code, 0, stderr);
  await faults.forget('a');
  const { attempts } = await faults.completesUndisturbed(job);
  assert.equal(attempts, faults.work.shards);
});

processTest('SIGKILL of a node that does not drain in time', async (t) => {
  faults.node('b').proxy.set(slowly);
  const job = await faults.submit();
  await eventually('leases of the node', async () => (await leases('a')) > 0);
  const { program, proxy } = faults.node('a');
  program.signal('SIGTERM');
  await eventually('the coordinator to know', async () => (await faults.cluster.node('a'))?.draining);
  proxy.set(silenced);
  // It may have answered the last of them just before.
  t.diagnostic(`${await leases('a')} leases that it cannot answer`);
  await faults.kill('a');
  await faults.completesUndisturbed(job);
});

processTest(`SIGKILL of the coordinator at ${runs} random moments of one job`, async (t) => {
  const random = seeded(seed);
  // Leases come so slowly that the job outlives all of them.
  const down = { bytesPerSecond: Math.max(800, 6_000 / runs) };
  for (const name of ['a', 'b']) faults.node(name).proxy.set({ down });
  const job = await faults.submit();
  let [held, done] = [0, 0];
  for (let kills = 0; kills < runs; kills++) {
    const { counts } = await faults.cluster.job(job.jobId);
    assert.ok(counts!.shardsDone >= done, `${counts!.shardsDone} of ${done} shards are still done`);
    // Half of the shards are done before the last kill at most.
    done = await faults.shardsDone(job, done + Math.floor((random() * faults.work.shards) / 2 / runs));
    held += (await leases('a')) + (await leases('b'));
    faults.cluster.coordinator.kill();
    await faults.cluster.startCoordinatorAgain();
  }
  for (const name of ['a', 'b']) faults.node(name).proxy.set({});
  const { attempts } = await faults.resumesUndisturbed(job);
  const again = attempts - faults.work.shards;
  t.diagnostic(`seed ${seed}: ${runs} kills, ${held} leases held then, ${again} attempts more than shards`);
  // Those that were answered between our look and the kill had others in their place.
  assert.ok(again <= held + 16 * runs, `${again} attempts more than shards, ${held} leases were held`);
});

processTest('SIGKILL of the coordinator, and what was found of some shards is gone when it is back', async () => {
  for (const name of ['a', 'b']) faults.node(name).proxy.set({ down: { bytesPerSecond: 6_000 } });
  const job = await faults.submit();
  const parts = join(job.out, '.halogrid', 'parts');
  await eventually('parts of the job', () => whole(parts).length > 1);
  faults.cluster.coordinator.kill();
  await faults.cluster.coordinator.ended;
  for (const part of whole(parts)) rmSync(join(parts, part), { recursive: true });
  await faults.cluster.startCoordinatorAgain();
  for (const name of ['a', 'b']) faults.node(name).proxy.set({});
  const { attempts } = await faults.resumesUndisturbed(job);
  assert.ok(attempts > faults.work.shards);
});

processTest('SIGSTOP of the coordinator for longer than nodes wait for its word', async () => {
  for (const name of ['a', 'b']) faults.node(name).proxy.set(slowly);
  const job = await faults.submit();
  await faults.shardsDone(job, 20);
  const [pid] = faults.cluster.coordinator.pidsOf('coordinator');
  const proxies = ['a', 'b'].map((name) => faults.node(name).proxy);
  const dialled = proxies.map(({ accepted }) => accepted);
  process.kill(pid!, 'SIGSTOP');
  try {
    await eventually('the nodes to dial again', () => proxies.every((proxy, i) => proxy.accepted > dialled[i]!));
  } finally {
    process.kill(pid!, 'SIGCONT');
  }
  await faults.completesUndisturbed(job);
});
