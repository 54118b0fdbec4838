import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Grid } from '@halogrid/kernels';
import { foundFrames } from '../testing/found-frames.ts';
import { memoryFolder } from '../testing/memory-folder.ts';
import type { ShardCommit } from './ledger.ts';
import type { LogLedger } from './log-ledger.ts';
import { Summaries } from './summaries.ts';
import { commitOf, comparable, expectedResults, jobId, planOf, shardsOf, spec } from './testing/ledger-scene.ts';
import { openLogLedger } from './testing/open-log-ledger.ts';

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

/** The answer as it comes, in several messages. */
const packed = (commit: ShardCommit): ShardCommit => {
  return { ...commit, results: [], found: foundFrames(commit.results, 20_000) };
};
const answerOf = (shard: number): ShardCommit => packed(commitOf(shards[shard]!, steps, undefined, grid));

let ledgers = 0;
async function begin(summaries: Summaries): Promise<LogLedger> {
  const ledger = await openLogLedger(join(folder, String(ledgers++)), undefined, { summaries });
  await ledger.createJob({ jobId, spec: { ...spec, grid }, submittedMs: 1 });
  await ledger.addPlan(jobId, steps, true);
  return ledger;
}
const commit = (ledger: LogLedger, shard: number) => ledger.commit({ ...answerOf(shard), epoch: ledger.epoch });

/** Without their hundred thousands of numbers, of which a difference takes minutes to be told. */
async function assertResults(ledger: LogLedger, results: Awaited<ReturnType<typeof comparable>>): Promise<void> {
  const { histograms, ...found } = await comparable(ledger, grid);
  const { histograms: wanted, ...others } = results;
  assert.deepEqual(found, others);
  assert.ok(isDeepStrictEqual(histograms, wanted), 'histograms differ');
}

test('what a thread makes of answers is what comes of them without one, and an answer that comes twice counts once', async () => {
  const summaries = new Summaries();
  const ledger = await begin(summaries);
  const outcomes = await Promise.all([2, 0, 0, 1].map((shard) => commit(ledger, shard)));
  assert.deepEqual(outcomes.sort(), ['committed', 'committed', 'committed', 'duplicate']);
  await assertResults(ledger, expected);
  await ledger.close();
});

test('of an answer of which a frame is broken, the others are counted', async () => {
  const summaries = new Summaries();
  const ledger = await begin(summaries);
  const broken = new Set([7]);
  const answer = packed(commitOf(shards[0]!, steps, broken, grid));
  assert.equal(await ledger.commit({ ...answer, epoch: ledger.epoch }), 'committed');
  for (const shard of [1, 2]) await commit(ledger, shard);
  const fates = sizes.map((size, i) => ({ ...size, fate: broken.has(i) ? 'broken' : 'good' }));
  await assertResults(ledger, expectedResults(fates, grid));
  await ledger.close();
});

test('counts that cannot be right are refused as without a thread', async () => {
  const ledger = await begin(new Summaries());
  const right = commitOf(shards[0]!, steps, undefined, grid);
  const results = right.results.map((result, i) => {
    const bins = Array.from(result.bins);
    if (i === 3) bins[bins.findIndex((count) => count > 0)]! += 100;
    return { ...result, bins };
  });
  const wrong = packed({ ...right, results });
  const refusal = { name: 'InvalidResultError', message: /^The result of source 3 has 10\d pixels in a cell of / };
  await assert.rejects(ledger.commit({ ...wrong, epoch: ledger.epoch }), refusal);
  for (const shard of [0, 1, 2]) assert.equal(await commit(ledger, shard), 'committed');
  await assertResults(ledger, expected);
  await ledger.close();
});

test('where the thread has ended, answers are taken all the same', async () => {
  const summaries = new Summaries();
  const ledger = await begin(summaries);
  await commit(ledger, 0);
  await summaries.close();
  for (const shard of [1, 2]) assert.equal(await commit(ledger, shard), 'committed');
  await assertResults(ledger, expected);
  await ledger.close();
});

test('an answer of a job that ends meanwhile is stale', async () => {
  const ledger = await begin(new Summaries());
  const late = commit(ledger, 0);
  await ledger.setState(jobId, 'cancelled', { nowMs: 2 });
  assert.equal(await late, 'stale');
  await ledger.close();
});
