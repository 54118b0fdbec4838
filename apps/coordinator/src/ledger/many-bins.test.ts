import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { blockBins, OpenBins } from '../log/open-bins.ts';
import { memoryFolder } from '../testing/memory-folder.ts';
import type { DurableLedger } from './durable-ledger.ts';
import { encodeOpenSource } from './job-record.ts';
import { seal } from './record/sealed.ts';
import type { Entry } from './store/ledger-store.ts';
import { MemoryStore } from './store/memory-store.ts';
import {
  commitOf,
  comparable,
  expectedResults,
  jobId,
  pipeline,
  planOf,
  shardsOf,
  spec,
} from './testing/ledger-scene.ts';
import { openLedger } from './testing/open-ledger.ts';

// An image whose sums are several entries of the ledger until its last tile is in. Each of its cells is a pixel.

const folder = await mkdtemp(join(memoryFolder, 'halogrid-many-bins-'));
after(() => rm(folder, { recursive: true, force: true }));

const size = { width: 64, height: 65 };
const grid = { rows: 65, columns: 64 };
const bins = 65 * 64 * pipeline.bins;
assert.ok(bins > blockBins && bins < 2 * blockBins);

const steps = planOf([size], 40, 1);
const shards = shardsOf(steps);
assert.equal(shards.length, 4);
const expected = expectedResults([{ ...size, fate: 'good' }], grid);

const entriesOf = (store: MemoryStore, kind: string): Promise<Entry[]> =>
  Array.fromAsync(store.entries({ jobId, kind }));

async function begin(store: MemoryStore, spool: string): Promise<DurableLedger> {
  const ledger = await openLedger(() => spool, store);
  await ledger.createJob({ jobId, spec: { ...spec, grid }, submittedMs: 1 });
  await ledger.addPlan(jobId, steps, true);
  return ledger;
}

/** Goes on with what an earlier process left, and ends the job. */
async function finish(store: MemoryStore, spool: string, open: number[]): Promise<void> {
  const ledger = await openLedger(() => spool, store);
  const left = await ledger.resume(jobId);
  assert.deepEqual(
    left.map(({ shard }) => shard.shard),
    open,
  );
  for (const { shard } of left)
    await ledger.commit({ ...commitOf(shard, steps, undefined, grid), epoch: ledger.epoch });
  assert.deepEqual(await comparable(ledger, grid), expected);
  for (const kind of ['open', 'bins']) assert.deepEqual(await entriesOf(store, kind), []);
  await ledger.close();
}

test('a coordinator goes on with the sums of tiles in blocks, which are gone when the image is done', async () => {
  const [store, spool] = [new MemoryStore(), join(folder, 'a')];
  const ledger = await begin(store, spool);
  const written: number[][] = [];
  // The upper tiles touch the first block alone, the lower ones both.
  for (const i of [1, 2]) {
    await ledger.commit({ ...commitOf(shards[i]!, steps, undefined, grid), epoch: ledger.epoch });
    written.push((await entriesOf(store, 'bins')).map(({ key }) => key));
  }
  assert.deepEqual(written, [[0], [0, 1]]);
  assert.ok((await entriesOf(store, 'open'))[0]!.value.length < 100);
  await ledger.close();
  await finish(store, spool, [0, 3]);
});

test('a block that is missing is noticed', async () => {
  const store = new MemoryStore();
  const ledger = await begin(store, join(folder, 'b'));
  await ledger.commit({ ...commitOf(shards[2]!, steps, undefined, grid), epoch: ledger.epoch });
  await ledger.close();
  const epoch = (await store.acquire('test', 0))!;
  const [, block] = await entriesOf(store, 'bins');
  await store.write(epoch, [{ ...block!, value: undefined }]);
  await assert.rejects(
    openLedger(() => join(folder, 'b'), store),
    /entries of kind 'bins' of job job-1 are missing/,
  );
});

test('an image that an older version began, with all sums in one entry, is ended', async () => {
  const [store, spool] = [new MemoryStore(), join(folder, 'c')];
  const ledger = await begin(store, spool);
  const commit = commitOf(shards[0]!, steps, undefined, grid);
  await ledger.commit({ ...commit, epoch: ledger.epoch });
  await ledger.close();
  const all = new OpenBins(bins);
  const columns = 40;
  const cell = pipeline.bins;
  for (let row = 0; row < 40; row++) {
    all.add(row * 64 * cell, commit.results[0]!.bins, row * columns * cell, columns * cell);
  }
  const epoch = (await store.acquire('test', 0))!;
  const pixels = 40 * 40;
  const head = encodeOpenSource({ state: 'open', tilesLeft: 3, counted: pixels, pixels, bins: undefined }, 0);
  const content = Buffer.concat([head, Uint8Array.from(all.sums)]);
  const removed = (await entriesOf(store, 'bins')).map((entry) => ({ ...entry, value: undefined }));
  await store.write(epoch, [...removed, seal({ jobId, kind: 'open', key: 0 }, content)]);
  await finish(store, spool, [1, 2, 3]);
});
