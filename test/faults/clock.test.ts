import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { FaultCluster, skip } from './fault-cluster.ts';
import { withFaults } from './node-hooks.ts';

// Clocks that jump, and clocks of hosts that differ: leases and deadlines are by clocks that never go back.

/** Far below the jump, which would make every node count as lost. */
const nodeTimeoutMs = 2_500;
const jumping = withFaults({ clockJumpsMs: 3_600_000 });

let faults: FaultCluster | undefined;
after(() => faults?.stop());

test('the clocks of the coordinator and of a node jump by an hour, each second', {
  skip,
  timeout: 120_000,
}, async () => {
  faults = await FaultCluster.start(['right'], nodeTimeoutMs, jumping);
  await faults.join('jumping', { env: jumping });
  for (const name of ['right', 'jumping']) faults.node(name).proxy.set({ down: { bytesPerSecond: 5_000 } });
  const startMs = performance.now();
  const { attempts, expired } = await faults.completesUndisturbed(await faults.submit());
  assert.ok(performance.now() - startMs > 2_500, 'The job was over before the clocks jumped');
  assert.deepEqual([attempts, expired], [faults.work.shards, 0]);
});
