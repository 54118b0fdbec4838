import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobDetail } from '@halogrid/proto';
import { eventually } from '@halogrid/testing';
import { ScriptedNode } from './services/testing/scripted-node.ts';
import { complete, setStages, specOf, submit, watchToEnd, writeImages } from './testing/coordinator-stage.ts';

test('what a job did is shown after restarts while it runs and when it has ended', async (t) => {
  const { folder, start } = await setStages(t);
  const detail = async (httpPort: number, jobId: string) =>
    (await (await fetch(`http://127.0.0.1:${httpPort}/api/v1/jobs/${jobId}`)).json()) as JobDetail;

  const first = await start();
  const spec = specOf(folder, await writeImages(folder, 2), { mapFormat: 'none' });
  const { jobId } = await submit(first.jobs, spec);
  const node = await ScriptedNode.attach(first.coordinator.grpcPort, { nodeId: 'n1', name: 'one' });
  await complete(node, await node.next('lease'));
  const held = await node.next('lease');
  const seen = await eventually('the first result', async () => {
    const { history } = await detail(first.coordinator.httpPort, jobId);
    return history!.lanes.length > 0 && history!;
  });
  await first.stop();
  node.hangUp();

  const second = await start();
  const { history } = await detail(second.coordinator.httpPort, jobId);
  assert.deepEqual([history!.sinceMs, history!.lanes.map(({ node }) => node)], [seen.sinceMs, ['one']]);
  const other = new ScriptedNode(second.coordinator.grpcPort);
  const { shard, attempt, epoch } = held;
  const lease = { jobId, shard, attempt, epoch, verify: false, inPart: false };
  other.hello({ nodeId: 'n1', name: 'two', held: [lease] });
  const ended = watchToEnd(second.jobs, jobId);
  await complete(other, { ...held, epoch: (await other.next('welcome')).epoch });
  await ended;
  await second.stop();
  other.hangUp();

  const third = await start();
  const { history: whole } = await detail(third.coordinator.httpPort, jobId);
  assert.deepEqual(
    whole!.lanes.map(({ node, shards }) => [node, shards]),
    [
      ['one', 1],
      ['two', 1],
    ],
  );
  assert.equal(whole!.stages.find(({ stage }) => stage === 'merge')!.count, 2);
  await third.stop();
});
