import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pause } from '@halogrid/testing';
import { FaultCluster, skip } from './fault-cluster.ts';
import { withFaults } from './node-hooks.ts';

// Clocks jump, and clocks of hosts differ. This must not matter, because leases and deadlines use clocks that never go
// back.

const jumpMs = 3_600_000;
const jumping = withFaults({ clockJumpsMs: jumpMs });

let faults: FaultCluster | undefined;
after(() => faults?.stop());

test('the clocks of the coordinator and of a node jump by an hour, each second', { skip }, async () => {
  // A jump is far longer than a node may be silent, so nodes would count as lost if wall clocks were used.
  faults = await FaultCluster.start(['right'], undefined, jumping);
  await faults.join('jumping', { env: jumping });
  const network = (down: { bytesPerSecond?: number; isHeld?: boolean }): void => {
    for (const name of ['right', 'jumping']) faults!.node(name).proxy.set({ down });
  };
  network({ bytesPerSecond: 5_000 });
  const job = await faults.submit();
  await faults.shardsDone(job, 5);
  // Two jumps while shards are leased. The job cannot end meanwhile, because no message reaches its nodes.
  network({ isHeld: true });
  await pause(2_500);
  network({});
  const { attempts, expired } = await faults.completesUndisturbed(job);
  assert.deepEqual([attempts, expired], [faults.work.shards, 0]);
  const { submittedMs } = await faults.cluster.job(job.jobId);
  const writtenMs = statSync(join(faults.work.folder, 'image.tif')).mtimeMs;
  assert.ok(Math.abs(Number(submittedMs) - writtenMs) > jumpMs / 2, 'the clock of the coordinator jumps');
});
