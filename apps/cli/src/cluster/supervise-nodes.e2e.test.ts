import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { devicePath, findGpus, type GpuPin, pinGpus } from '@halogrid/gpu-node/gpus';
import { canMakeDevices, makeGpuTree } from '@halogrid/gpu-node/testing';
import type { NodeStatus } from '@halogrid/proto';
import { createClientSecurity } from '@halogrid/service';
import { eventually, within } from '@halogrid/testing';
import { connectCoordinator } from '../client/coordinator-client.ts';
import { type Child, startChild } from './child.ts';
import { superviseNodes } from './supervise-nodes.ts';

// Real processes that the kernel isolates from each other's device files. Nothing opens these files: the nodes compute
// on the CPU.

const skip = canMakeDevices ? false : 'only root makes device files';

test('nodes that see one card each are kept running and end in order', { skip }, async (t) => {
  const machine = await mkdtemp(join(tmpdir(), 'halogrid-machine-'));
  const coordinator = startChild([
    'coordinator',
    '--listen',
    '127.0.0.1:0',
    '--http',
    '127.0.0.1:0',
    '--ledger',
    join(machine, 'ledger.sqlite'),
  ]);
  const { grpc } = (await coordinator.ready)!;
  const client = connectCoordinator(`127.0.0.1:${grpc}`, createClientSecurity({}));
  const stop = new AbortController();
  let supervised: Promise<number> | undefined;
  t.after(async () => {
    stop.abort('SIGTERM');
    await supervised?.catch(() => {});
    client.close();
    await coordinator.stop();
    await rm(machine, { recursive: true, force: true });
  });

  await makeGpuTree(machine, [1, 2, 0]);
  const inventory = (await findGpus(machine, async () => true))!;
  const pathOf = (gpu: { minor: number }) => join(machine, devicePath(gpu));
  const chosen = inventory.visible.map((gpu, index) => ({ index, gpu }));
  const pins = await pinGpus(chosen, inventory, pathOf);
  const running = new Map<string, Child>();
  const proven: string[][] = [];
  const ready = Promise.withResolvers<Record<string, unknown>[]>();
  supervised = superviseNodes({
    nodes: pins.map((pin) => ({ name: `gpu-${pin.index}`, pin })),
    start: ({ name, pin }) => {
      const where = ['--coordinator', client.address, '--http', '127.0.0.1:0'];
      const node = startChild(['node', ...where, '--name', name, '--device', 'cpu'], { prefix: pin.prefix });
      running.set(name, node);
      return node;
    },
    prove: async (nodes) => {
      proven.push(nodes.map(({ node }) => node.name).toSorted());
      for (const { node, pid } of nodes) assert.deepEqual(await cardsSeenBy(pid), [node.pin.gpu.minor]);
    },
    onReady: ready.resolve,
    note: () => {},
    signal: stop.signal,
    nowMs: () => performance.now(),
  });

  /** Minor numbers of the cards that the process sees. */
  async function cardsSeenBy(pid: number): Promise<number[]> {
    const seen = pins.map(async ({ gpu }: GpuPin) => {
      const { rdev } = await stat(`/proc/${pid}/root${pathOf(gpu)}`);
      // Below 256 the numbers are packed as one byte each.
      return rdev === (195 << 8) + gpu.minor ? [gpu.minor] : [];
    });
    return (await Promise.all(seen)).flat();
  }

  const early = supervised.then((code) => assert.fail(`It ended with ${code}`));
  early.catch(() => {});
  const whileSupervised = <T>(what: string, event: Promise<T>): Promise<T> =>
    within(what, Promise.race([event, early]));
  const attached = (what: string, is: (nodes: NodeStatus[]) => boolean): Promise<string[]> => {
    const asked = eventually(what, async () => {
      const nodes = await client.nodes();
      return is(nodes) && nodes.map(({ name }) => name);
    });
    return whileSupervised(what, asked);
  };
  const names = ['gpu-0', 'gpu-1', 'gpu-2'];
  assert.equal((await whileSupervised('all nodes to be ready', ready.promise)).length, 3);
  assert.deepEqual(proven, [names]);
  assert.deepEqual(await attached('three nodes', (nodes) => nodes.length === 3), names);

  const killed = running.get('gpu-1')!;
  const before = new Set((await client.nodes()).map(({ nodeId }) => nodeId));
  process.kill(killed.pid, 'SIGKILL');
  await attached(
    'another node in the place of the killed one',
    (nodes) => nodes.length === 3 && nodes.some(({ nodeId }) => !before.has(nodeId)),
  );
  await eventually('a second proof of what nodes see', () => proven.length > 1);
  assert.deepEqual(proven[1], names);
  assert.notEqual(running.get('gpu-1')!.pid, killed.pid);

  stop.abort('SIGTERM');
  assert.equal(await within('an end in order', supervised), 0);
  for (const node of running.values())
    assert.deepEqual(await within('the end of a node', node.ended), { code: 0 }, node.logTail().join('\n'));
});
