import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { memoryFolder } from '@halogrid/testing';
import { MemoryRegistry } from '../registry/memory-registry.ts';
import {
  commitOf,
  comparable,
  expectedResults,
  jobId,
  pipeline,
  planOf,
  shardsOf,
  spec,
} from '../testing/ledger-scene.ts';
import { openLogLedger } from '../testing/open-log-ledger.ts';

// An image of a million bins. Each of its cells is a pixel.

const folder = await mkdtemp(join(memoryFolder, 'halogrid-many-bins-'));
after(() => rm(folder, { recursive: true, force: true }));

const size = { width: 64, height: 65 };
const grid = { rows: 65, columns: 64 };
assert.ok(65 * 64 * pipeline.bins > 2 ** 20);

test('a new coordinator goes on with the sums of an image after any of its tiles, however many bins the image has', async () => {
  const steps = planOf([size], 40, 1);
  const shards = shardsOf(steps);
  assert.equal(shards.length, 4);
  const registry = new MemoryRegistry();
  for (const [done, shard] of [1, 2, 0, 3].entries()) {
    const ledger = await openLogLedger(folder, registry);
    if (done === 0) {
      await ledger.createJob({ jobId, spec: { ...spec, grid }, submittedMs: 1 });
      await ledger.addPlan(jobId, steps, true);
    } else assert.equal((await ledger.resume(jobId)).open.length, 4 - done);
    const commit = { ...commitOf(shards[shard]!, steps, undefined, grid), epoch: ledger.epoch };
    assert.equal(await ledger.commit(commit), 'committed');
    if (done === 3)
      assert.deepEqual(await comparable(ledger, grid), expectedResults([{ ...size, fate: 'good' }], grid));
    await ledger.close();
  }
});
