import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Grid } from '@halogrid/kernels';
import { createLog } from '@halogrid/service/log';
import { memoryFolder } from '../testing/memory-folder.ts';
import { DurableLedger } from './durable-ledger.ts';
import { framesOf, summarise } from './frame-summary.ts';
import { HistogramSpool } from './histogram-spool.ts';
import { Journal } from './journal.ts';
import type { ShardCommit } from './ledger.ts';
import { Merge } from './merge.ts';
import { MemoryStore } from './store/memory-store.ts';
import { SummaryThread } from './summary-thread.ts';
import { commitOf, comparable, expectedResults, jobId, planOf, shardsOf, spec } from './testing/ledger-scene.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-summaries-'));
after(() => rm(folder, { recursive: true, force: true }));

const grid: Grid = { rows: 4, columns: 4 };
/** Frames of 4096 bins, 40 a shard, which are more than 2^17. */
const sizes = Array.from({ length: 90 }, (_, i) => ({ width: 5 + (i % 7), height: 6 + (i % 3) }));
const steps = planOf(sizes, 100, 40);
const shards = shardsOf(steps);
const expected = expectedResults(
  sizes.map((size) => ({ ...size, fate: 'good' })),
  grid,
);

/** The answer as it comes off the wire, its counts in one array. */
function packed(commit: ShardCommit): ShardCommit {
  const all = Uint32Array.from(commit.results.flatMap(({ bins }) => Array.from(bins)));
  let end = 0;
  const results = commit.results.map((result) => {
    end += result.bins.length;
    return { ...result, bins: all.subarray(end - result.bins.length, end) };
  });
  return { ...commit, results };
}
const answerOf = (shard: number): ShardCommit => packed(commitOf(shards[shard]!, steps, undefined, grid));

let spools = 0;
async function begin(summaries: SummaryThread): Promise<DurableLedger> {
  const store = new MemoryStore();
  const epoch = (await store.acquire('test', 0))!;
  const journal = new Journal({ store, epoch, log: createLog('test', 'silent'), nowMs: () => performance.now() });
  const path = join(folder, String(spools++));
  const ledger = new DurableLedger({
    epoch,
    homeOf: async () => ({ journal }),
    openSpool: () => new HistogramSpool(path),
    summaries,
  });
  await ledger.createJob({ jobId, spec: { ...spec, grid }, submittedMs: 1 });
  await ledger.addPlan(jobId, steps, true);
  return ledger;
}
const commit = (ledger: DurableLedger, shard: number) => ledger.commit({ ...answerOf(shard), epoch: ledger.epoch });

/** Without their hundred thousands of numbers, of which a difference takes minutes to be told. */
async function assertResults(ledger: DurableLedger, results: Awaited<ReturnType<typeof comparable>>): Promise<void> {
  const { histograms, ...found } = await comparable(ledger, grid);
  const { histograms: wanted, ...others } = results;
  assert.deepEqual(found, others);
  assert.ok(isDeepStrictEqual(histograms, wanted), 'histograms differ');
}

/** Counts those that were made. */
class CountingThread extends SummaryThread {
  made = 0;
  override async summarise(...frames: Parameters<SummaryThread['summarise']>): ReturnType<SummaryThread['summarise']> {
    const summary = await super.summarise(...frames);
    if (summary) this.made++;
    return summary;
  }
}

test('what a thread makes of answers is what comes of them without one, and an answer that comes twice counts once', async () => {
  const summaries = new CountingThread();
  const ledger = await begin(summaries);
  const outcomes = await Promise.all([2, 0, 0, 1].map((shard) => commit(ledger, shard)));
  assert.deepEqual(outcomes.sort(), ['committed', 'committed', 'committed', 'duplicate']);
  // The last shard has 10 frames, which are not worth it.
  assert.equal(summaries.made, 3);
  await assertResults(ledger, expected);
  await ledger.close();
});

test('of an answer of which a frame is broken, the others are counted', async () => {
  const summaries = new CountingThread();
  const ledger = await begin(summaries);
  const broken = new Set([7]);
  const answer = packed(commitOf(shards[0]!, steps, broken, grid));
  assert.equal(await ledger.commit({ ...answer, epoch: ledger.epoch }), 'committed');
  for (const shard of [1, 2]) await commit(ledger, shard);
  assert.equal(summaries.made, 2);
  const fates = sizes.map((size, i) => ({ ...size, fate: broken.has(i) ? 'broken' : 'good' }));
  await assertResults(ledger, expectedResults(fates, grid));
  await ledger.close();
});

test('a summary is of no use where a source has been set aside: nothing of it is added', () => {
  const shape = { grid: { rows: 1, columns: 1 }, channels: 1, bins: 2 ** 17 };
  const merge = new Merge(shape);
  for (const name of ['a', 'b']) merge.addSource(`file:///${name}`, name, 1);
  const size = { width: 1, height: 1 };
  const all = new Uint32Array(2 * shape.bins);
  const results = [0, 1].map((source) => {
    const bins = all.subarray(source * shape.bins, (source + 1) * shape.bins);
    bins[5] = 1;
    return { source, size, rect: { x: 0, y: 0, ...size }, counted: 1, bins };
  });
  const summary = summarise(framesOf(results, shape, shape.bins)!);
  merge.quarantine(0, { stage: 'read', error: 'gone', attempts: 1, shard: -1 });
  assert.equal(merge.addSummarised(results, summary), false);
  assert.deepEqual([merge.done, merge.counted, merge.pixels], [0, 0n, 0]);
  merge.add(results);
  assert.deepEqual([merge.done, merge.counted, merge.bins[5]], [1, 1n, 1n]);
});

test('counts that cannot be right are refused as without a thread', async () => {
  const ledger = await begin(new SummaryThread());
  const wrong = answerOf(0);
  const bins = wrong.results[3]!.bins as Uint32Array;
  bins[bins.findIndex((count) => count > 0)]! += 100;
  const refusal = { name: 'InvalidResultError', message: /^The result of source 3 has 10\d pixels in a cell of / };
  await assert.rejects(ledger.commit({ ...wrong, epoch: ledger.epoch }), refusal);
  for (const shard of [0, 1, 2]) assert.equal(await commit(ledger, shard), 'committed');
  await assertResults(ledger, expected);
  await ledger.close();
});

test('where the thread has ended, answers are taken all the same', async () => {
  const summaries = new CountingThread();
  const ledger = await begin(summaries);
  await commit(ledger, 0);
  await summaries.close();
  for (const shard of [1, 2]) assert.equal(await commit(ledger, shard), 'committed');
  assert.equal(summaries.made, 1);
  await assertResults(ledger, expected);
  await ledger.close();
});

test('an answer of a job that ends meanwhile is stale', async () => {
  const ledger = await begin(new SummaryThread());
  const late = commit(ledger, 0);
  await ledger.setState(jobId, 'cancelled', { nowMs: 2 });
  assert.equal(await late, 'stale');
  await ledger.close();
});
