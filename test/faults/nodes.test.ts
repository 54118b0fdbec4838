import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { eventually, timeoutMs } from '@halogrid/testing';
import { readJson } from '../results.ts';
import { FaultCluster, type StartedJob, skip, slowly } from './fault-cluster.ts';

// Whatever ends or stops the process of a node, a job ends with the same bytes.

/** Silence that makes a node count as lost. */
const nodeTimeoutMs = timeoutMs(5_000);

let faults: FaultCluster;

before(async () => {
  if (!skip) faults = await FaultCluster.start(['a', 'b'], nodeTimeoutMs);
});
beforeEach(() => faults?.restore('a', 'b'));
after(() => faults?.stop());

const nodeTest = (sentence: string, act: () => Promise<void>) => test(sentence, { skip }, act);

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

const chunks = ({ out }: StartedJob): number => globSync(`${out}/.halogrid/map/**/*.u8`).length;

nodeTest('SIGKILL of a node while it computes', async () => {
  faults.node('a').proxy.set(slowly);
  const job = await faults.submit();
  await faults.shardsDone(job, 20);
  await eventually('leases of the node', async () => (await leases('a')) > 0);
  process.kill(faults.node('a').pid, 'SIGKILL');
  const { attempts, expired } = await faults.completesUndisturbed(job);
  assert.ok(expired > 0);
  assert.equal(attempts, faults.work.shards + expired);
});

nodeTest('SIGKILL of a node after it has written chunks and before anybody heard of them', async () => {
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

nodeTest('SIGSTOP of a node beyond its deadline, and SIGCONT while others do its shards', async () => {
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

nodeTest('SIGCONT after the job is over', async () => {
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

nodeTest('every node lost: the job waits, and goes on with the first that joins', async () => {
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
  assert.ok((await fetch(`${faults.cluster.http}/readyz`)).ok);
  await faults.join('c');
  const { attempts } = await faults.completesUndisturbed(job);
  const parts: { name: string; shards: number }[] = readJson(job.out, 'job.json').nodes;
  const shardsOfC = parts.find(({ name }) => name === 'c')!.shards;
  assert.ok(shardsOfC <= faults.work.shards - counts!.shardsDone, 'what was committed is not computed again');
  assert.ok(attempts > faults.work.shards);
});

nodeTest('SIGTERM of a node: it finishes what it holds, however slow its network, and wastes nothing', async () => {
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

nodeTest('SIGKILL of a node that does not drain in time', async () => {
  faults.node('b').proxy.set(slowly);
  const job = await faults.submit();
  await eventually('leases of the node', async () => (await leases('a')) > 0);
  const { program, proxy } = faults.node('a');
  program.signal('SIGTERM');
  await eventually('the coordinator to know', async () => (await faults.cluster.node('a'))?.draining);
  proxy.set(silenced);
  await eventually('leases that it cannot answer', async () => (await leases('a')) > 0);
  await faults.kill('a');
  await faults.completesUndisturbed(job);
});
