import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rename, rm, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { lackOf } from '@halogrid/jobs/output-lack';
import { scratchUri } from '@halogrid/jobs/output-paths';
import { cutTiles } from '@halogrid/kernels';
import type { AnsweredShards, LogLedger, SettledSources } from '@halogrid/ledger';
import { jobId, planOf, shardsOf, spec } from '@halogrid/ledger/testing-ledger-scene';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import { memoryFolder, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { writtenCommit } from '../testing/written-commit.ts';
import { DoneSources } from './done-sources.ts';
import { LostPartError } from './lost-part-error.ts';
import { lostShards } from './lost-shards.ts';
import { partsOf, partsPath } from './write-part.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-done-'));
after(() => rm(folder, { recursive: true, force: true }));
let files = 0;

const size = { width: 4, height: 3 };
const doneOf = (index: number) => ({ index, name: String(index), size, tiles: 1 });

interface Told {
  sizes: { width: number; height: number }[];
  tilePx?: number;
  batchFrames: number;
  unread?: Set<number>;
}

/** A job whose sources have these sizes; each of its shards has a part of its own. */
async function openJob({ sizes, tilePx = 32, batchFrames, unread }: Told) {
  const path = join(folder, String(files++));
  const own = { ...spec, out: pathToFileURL(join(path, 'out')).href };
  await mkdir(fileURLToPath(scratchUri(own.out)), { recursive: true });
  const ledger = await openLogLedger(path, undefined, { partsOf });
  await ledger.createJob({ jobId, spec: own, submittedMs: 1 });
  const plan = planOf(sizes, tilePx, batchFrames, unread);
  await ledger.addPlan(jobId, plan, true);
  /** Answers a shard; resolves with the folder of its part. */
  const answer = async (shard: number, broken?: Set<number>): Promise<string> => {
    const commit = await writtenCommit(own, shardsOf(plan)[shard]!, plan, broken);
    await ledger.commit({ ...commit, epoch: ledger.epoch });
    return commit.found?.part ?? '';
  };
  return { ledger, plan, spec: own, parts: partsPath(own.out), answer };
}

/** As Ledger.settled, with at most this many sources at a time. */
const settledOf =
  (ledger: LogLedger, most = Number.POSITIVE_INFINITY) =>
  (from: number, atMost: number): Promise<SettledSources> =>
    ledger.settled(jobId, from, Math.min(atMost, most));

/** One shard at a time. */
const answeredOf =
  (ledger: LogLedger) =>
  (from: number): Promise<AnsweredShards> =>
    ledger.answered(jobId, from, 1);

test('done sources come in order, however their runs and blocks are cut and whatever is quarantined', async () => {
  const side = fc.integer({ min: 1, max: 12 });
  const job = fc.record({
    sizes: fc.array(fc.record({ width: side, height: side }), { maxLength: 14 }),
    tilePx: fc.constantFrom(8, 32),
    batchFrames: fc.integer({ min: 1, max: 5 }),
    unread: fc.uniqueArray(fc.nat(13), { maxLength: 2 }),
    broken: fc.uniqueArray(fc.nat(13), { maxLength: 4 }),
    most: fc.integer({ min: 1, max: 20 }),
    looked: fc.array(fc.nat(13), { maxLength: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(job, async ({ sizes, tilePx, batchFrames, unread, broken, most, looked }) => {
      const { ledger, plan, spec, answer } = await openJob({ sizes, tilePx, batchFrames, unread: new Set(unread) });
      for (const { shard } of shardsOf(plan).toReversed()) await answer(shard, new Set(broken));
      await ledger.results(jobId);

      const isQuarantined = (index: number): boolean => unread.includes(index) || broken.includes(index);
      const expected = sizes.map((size, index) =>
        isQuarantined(index)
          ? 'quarantined'
          : { index, name: String(index), size: { ...size }, tiles: [...cutTiles(size, tilePx)].length },
      );
      const sources = new DoneSources(spec, settledOf(ledger, most));
      const told = await Array.fromAsync(sources);
      assert.deepEqual(
        told,
        expected.filter((source) => source !== 'quarantined'),
      );
      // In any order, and in parallel.
      const found = await Promise.all(looked.map((index) => sources.look(index)));
      assert.deepEqual(
        found,
        looked.map((index) => expected[index]),
      );
      await sources.close();
      await ledger.close();
    }),
    { numRuns: repeated(8, 40) },
  );
});

test('an open source is undefined, and the sources before it come', async () => {
  const { ledger, spec, answer } = await openJob({ sizes: Array(4).fill(size), batchFrames: 1 });
  const sources = new DoneSources(spec, settledOf(ledger));
  assert.equal(await sources.look(0), undefined);
  for (const shard of [0, 1, 3]) await answer(shard);
  assert.deepEqual(await Promise.all([0, 1, 2].map((index) => sources.look(index))), [doneOf(0), doneOf(1), undefined]);
  assert.deepEqual(await Array.fromAsync(sources), [doneOf(0), doneOf(1)]);
  await sources.close();
  await ledger.close();
});

test('a lost part rejects with its shard, after the sources before it; then the results in another part count', async () => {
  const { ledger, spec, parts, answer } = await openJob({ sizes: Array(6).fill(size), batchFrames: 2 });
  const [, part] = [await answer(0), await answer(1), await answer(2)];
  await ledger.results(jobId);
  await rename(join(parts, part), join(parts, 'lost'));
  const sources = new DoneSources(spec, settledOf(ledger));
  const isLost = (error: unknown): boolean => {
    assert.ok(error instanceof LostPartError);
    assert.equal(error.shard, 1);
    assert.match(error.message, new RegExp(`^Part '${join(parts, part)}' cannot be read: ENOENT`));
    return true;
  };
  for (const index of [2, 3]) await assert.rejects(sources.look(index), isLost);
  const told: number[] = [];
  const each = async (): Promise<void> => {
    for await (const { index } of sources) told.push(index);
  };
  await assert.rejects(each(), isLost);
  assert.deepEqual(told, [0, 1]);
  assert.deepEqual(await sources.look(4), doneOf(4));
  await assert.rejects(sources.look(3), isLost);

  const withdrawn = await ledger.withdraw(jobId, 1);
  assert.equal(withdrawn?.open.shard.shard, 1);
  assert.equal(await sources.look(3), undefined);
  await answer(1);
  await ledger.results(jobId);
  assert.deepEqual(await sources.look(3), doneOf(3));
  assert.deepEqual(
    await Array.fromAsync(sources),
    [0, 1, 2, 3, 4, 5].map((index) => doneOf(index)),
  );
  await sources.close();
  await ledger.close();
});

test('if the folder above the parts is away, nothing is lost: parts are read again once it is back', async () => {
  const { ledger, spec, parts, answer } = await openJob({ sizes: Array(4).fill(size), batchFrames: 2 });
  for (const shard of [0, 1]) await answer(shard);
  await ledger.results(jobId);
  const [scratch, away] = [dirname(parts), `${dirname(parts)}-away`];
  await rename(scratch, away);
  const once = new DoneSources(spec, settledOf(ledger));
  const isAway = (error: Error): boolean => {
    assert.ok(!(error instanceof LostPartError));
    assert.equal(lackOf(error)?.kind, 'folder');
    assert.match(error.message, /^Part '.*' cannot be read: ENOENT/);
    return true;
  };
  await assert.rejects(once.look(0), isAway);
  await assert.rejects(lostShards({ spec }, answeredOf(ledger)), isAway);
  const sources = new DoneSources(spec, settledOf(ledger), async (read) => {
    await assert.rejects(read(), isAway);
    await rename(away, scratch).catch(() => {});
    return read();
  });
  assert.deepEqual(await sources.look(0), doneOf(0));
  assert.deepEqual(await lostShards({ spec }, answeredOf(ledger)), []);
  await once.close();
  await sources.close();
  await ledger.close();
});

test('lost are the shards whose parts are gone or too short, except shards without a node', async () => {
  const { ledger, spec, parts, answer } = await openJob({ sizes: Array(12).fill(size), batchFrames: 2 });
  const written: string[] = [];
  for (const shard of [0, 1, 2, 3, 5]) written[shard] = await answer(shard);
  assert.deepEqual(await lostShards({ spec }, answeredOf(ledger)), []);
  await rm(join(parts, written[1]!), { recursive: true });
  await truncate(join(parts, written[3]!, 'features.parquet'), 100);
  await rm(join(parts, written[5]!), { recursive: true });
  // One shard before the last one is open.
  assert.deepEqual(await lostShards({ spec }, answeredOf(ledger)), [1, 3, 5]);
  await rm(parts, { recursive: true });
  assert.deepEqual(await lostShards({ spec }, answeredOf(ledger)), [0, 1, 2, 3, 5]);
  await ledger.close();
});

test('a part that no node wrote, such as that of an image in tiles, is lost without a shard', async () => {
  const { ledger, spec, plan, parts, answer } = await openJob({
    sizes: [{ width: 9, height: 4 }],
    tilePx: 8,
    batchFrames: 1,
  });
  for (const { shard } of shardsOf(plan)) await answer(shard);
  await ledger.results(jobId);
  for (const part of await readdir(parts)) await rm(join(parts, part), { recursive: true });
  const sources = new DoneSources(spec, settledOf(ledger));
  await assert.rejects(sources.look(0), (error) => error instanceof LostPartError && error.shard === undefined);
  await sources.close();
  await ledger.close();
});
