import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Hello } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { matched } from '@halogrid/testing';
import { ScriptedNode } from '../services/testing/scripted-node.ts';
import { metricsOf, type Stage, setStage } from '../testing/coordinator-stage.ts';
import { warnOfSharedGpu } from './shared-gpus.ts';

async function sharedCount(stage: Stage): Promise<number> {
  return Number(matched(await metricsOf(stage), /^halogrid_gpus_shared (\d+)$/m)[1]);
}

const onGpu = (uuid: string) => ({
  device: { kind: 'gpu', name: 'NVIDIA H200', driver: '', gpu: { uuid, pciBusId: '0000:0f:00.0' } },
});

async function attach(t: TestContext, grpcPort: number, name: string, uuid: string): Promise<ScriptedNode> {
  const node = await ScriptedNode.attach(grpcPort, { nodeId: name, name, ...onGpu(uuid) });
  t.after(() => node.hangUp());
  return node;
}

test('GPUs that two nodes have open are counted; nodes without a known GPU are not', async (t) => {
  const stage = await setStage(t);
  const { grpcPort, httpPort } = stage.coordinator;
  await attach(t, grpcPort, 'a', 'GPU-1');
  await attach(t, grpcPort, 'b', 'GPU-2');
  await attach(t, grpcPort, 'c', '');
  await attach(t, grpcPort, 'd', '');
  assert.equal(await sharedCount(stage), 0);
  const twin = await attach(t, grpcPort, 'e', 'GPU-1');
  await attach(t, grpcPort, 'f', 'GPU-1');
  assert.equal(await sharedCount(stage), 1);
  const { nodes } = (await (await fetch(`http://127.0.0.1:${httpPort}/api/v1/nodes`)).json()) as {
    nodes: { name: string; device: object }[];
  };
  assert.deepEqual(nodes.find(({ name }) => name === 'e')?.device, onGpu('GPU-1').device);

  // A node that attaches again does not share a GPU with itself.
  twin.hangUp();
  await attach(t, grpcPort, 'b', 'GPU-2');
  assert.equal(await sharedCount(stage), 1);
});

test('the log names the nodes that share a GPU, when another of them comes', () => {
  const lines: string[] = [];
  const log = { warn: (_: object, line: string) => lines.push(line) } as unknown as Log;
  const hello = (name: string, uuid: string) => Hello.fromPartial({ name, ...onGpu(uuid) });
  const [a, b, c] = [hello('a', 'GPU-1'), hello('b', 'GPU-2'), hello('c', 'GPU-1')];
  warnOfSharedGpu(b, [a, b], log);
  assert.deepEqual(lines, []);
  warnOfSharedGpu(c, [a, b, c], log);
  assert.deepEqual(lines, ['Nodes share one GPU, GPU-1: a, c']);
  warnOfSharedGpu(b, [a, b, c], log);
  assert.equal(lines.length, 1);
});
