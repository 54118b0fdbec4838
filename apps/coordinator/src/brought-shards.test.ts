import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { JobState, type Lease, type NodeStatus } from '@halogrid/proto';
import { ScriptedNode } from './services/testing/scripted-node.ts';
import {
  complete,
  get,
  metricsOf,
  setStage,
  setStages,
  specOf,
  submit,
  watchToEnd,
  writeImages,
} from './testing/coordinator-stage.ts';

const nameOf = ({ jobId, shard, attempt, epoch }: Lease) => ({
  jobId,
  shard,
  attempt,
  epoch,
  verify: false,
  inPart: false,
});

/** Dials again with these leases; resolves with the leases that the welcome keeps. */
async function comeBack(grpcPort: number, leases: Lease[]) {
  const node = new ScriptedNode(grpcPort);
  node.hello({ nodeId: 'n', held: leases.map(nameOf) });
  return { node, ...(await node.next('welcome')) };
}

test('a node whose connection broke goes on with its shards and its totals, and no lease expires', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const first = await submit(jobs, specOf(join(folder, 'first'), await writeImages(folder, 1)));
  const before = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'n' });
  await complete(before, await before.next('lease'));
  await watchToEnd(jobs, first.jobId);
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 2)));
  const leases = [await before.next('lease'), await before.next('lease')];
  before.hangUp();
  const { node, kept } = await comeBack(coordinator.grpcPort, [...leases, { ...leases[0]!, shard: 99 }]);
  assert.deepEqual(kept, leases.map(nameOf));
  for (const lease of leases) await complete(node, lease);
  const last = (await watchToEnd(jobs, jobId)).at(-1)!;
  assert.deepEqual([last.state, last.counts!.attempts], [JobState.COMPLETE, 2], last.error);
  const response = await fetch(`http://127.0.0.1:${coordinator.httpPort}/api/v1/nodes`);
  const { nodes } = (await response.json()) as { nodes: NodeStatus[] };
  assert.deepEqual(
    nodes.map(({ shardsDone, pixelsDone }) => [shardsDone, pixelsDone]),
    [[3, 105]],
  );
  assert.match(await metricsOf(stage), /^halogrid_lease_expirations_total 0$/m);
});

test('an attached node brings along shards of another conversation before its credit is used for new leases', async (t) => {
  const { coordinator, jobs, folder } = await setStage(t);
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 2)));
  const before = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'n' });
  const leases = [await before.next('lease'), await before.next('lease')];
  const node = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'm', creditBytes: 0 });
  before.hangUp();
  const held = [...leases, { ...leases[0]!, shard: 99 }].map(nameOf);
  node.say({ $case: 'brought', value: { jobId, held, creditBytes: 2 ** 30 } });
  assert.equal((await node.next('creditTaken')).bytes, 2 ** 30);
  assert.deepEqual(await node.next('kept'), { jobId, kept: leases.map(nameOf) });
  for (const lease of leases) await complete(node, lease);
  const last = (await watchToEnd(jobs, jobId)).at(-1)!;
  assert.deepEqual([last.state, last.counts!.attempts], [JobState.COMPLETE, 2], last.error);
});

test('a lease whose node stays away expires when its shard is leased again', async (t) => {
  const stage = await setStage(t);
  const { coordinator, jobs, folder } = stage;
  const { jobId } = await submit(jobs, specOf(folder, await writeImages(folder, 2)));
  const before = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'n' });
  for (let held = 0; held < 2; held++) await before.next('lease');
  before.hangUp();
  const other = await ScriptedNode.attach(coordinator.grpcPort, { nodeId: 'other' });
  for (let held = 0; held < 2; held++) await complete(other, await other.next('lease'));
  await watchToEnd(jobs, jobId);
  assert.match(await metricsOf(stage), /^halogrid_lease_expirations_total 2$/m);
});

test('a node goes on with its shards when the coordinator was restarted', async (t) => {
  const { folder, start } = await setStages(t);
  const first = await start();
  const { jobId } = await submit(first.jobs, specOf(folder, await writeImages(folder, 2)));
  const before = await ScriptedNode.attach(first.coordinator.grpcPort, { nodeId: 'n' });
  const leases = [await before.next('lease'), await before.next('lease')];
  await first.stop();

  const second = await start();
  const { node, epoch, kept } = await comeBack(second.coordinator.grpcPort, leases);
  assert.ok(epoch > leases[0]!.epoch);
  assert.deepEqual(
    kept,
    leases.map((lease) => ({ ...nameOf(lease), epoch })),
  );
  for (const lease of leases) await complete(node, { ...lease, epoch });
  await watchToEnd(second.jobs, jobId);
  const { state, counts, error } = await get(second.jobs, jobId);
  assert.deepEqual([state, counts!.attempts], [JobState.COMPLETE, 2], error);
});
