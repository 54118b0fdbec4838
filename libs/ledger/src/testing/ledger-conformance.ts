import assert from 'node:assert/strict';
import { type TestOptions, test } from 'node:test';
import type { Shard, SourceResult } from '@halogrid/jobs/shard';
import { readable } from '@halogrid/jobs/testing-planned';
import { packCounts } from '@halogrid/results/part-sums';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import type { Ledger, ShardCommit } from '../ledger/ledger.ts';
import {
  binsOf,
  commitOf,
  comparable,
  epoch,
  expectedResults,
  histogramsOf,
  jobId,
  oneCell,
  pipeline,
  planOf,
  shardsOf,
  spec,
} from './ledger-scene.ts';
import { settledSources, shapesOf } from './memory-parts.ts';

/** Tests that a ledger does what `Ledger` promises. `makeLedger` gives an empty ledger with the given epoch. */
export function ledgerConformance(
  name: string,
  makeLedger: (epoch: number) => Promise<Ledger>,
  { numRuns = repeated(5, 50), ...options }: TestOptions & { numRuns?: number } = {},
): void {
  const check = (what: string, act: () => Promise<void>) => test(`${name}: ${what}`, options, act);
  const withLedger = async (act: (ledger: Ledger) => Promise<void>, grid = oneCell): Promise<void> => {
    const ledger = await makeLedger(epoch);
    try {
      assert.equal(ledger.epoch, epoch);
      await ledger.createJob({ jobId, spec: { ...spec, grid }, submittedMs: 1000 });
      await act(ledger);
    } finally {
      await ledger.close();
    }
  };

  check('a job has its specification, and the newest is listed first', () =>
    withLedger(async (ledger) => {
      await ledger.createJob({ jobId: 'job-2', spec: { ...spec, tilePx: 64 }, submittedMs: 2000 });
      const job = await ledger.getJob(jobId);
      assert.deepEqual(job?.spec, spec);
      assert.deepEqual([job?.state, job?.submittedMs, job?.finishedMs, job?.planned], ['pending', 1000, 0, false]);
      assert.deepEqual(
        (await ledger.listJobs()).map((record) => record.jobId),
        ['job-2', jobId],
      );
      assert.equal(await ledger.getJob('job-3'), undefined);
      await assert.rejects(ledger.createJob({ jobId, spec, submittedMs: 3000 }), /job-1/);
    }),
  );

  check('a record from getJob does not change later', () =>
    withLedger(async (ledger) => {
      const before = await ledger.getJob(jobId);
      await ledger.setState(jobId, 'running', { nowMs: 2000 });
      await ledger.addPlan(jobId, planOf([{ width: 2, height: 2 }], 2, 1), true);
      assert.deepEqual([before?.state, before?.counts.sources, before?.planned], ['pending', 0, false]);
    }),
  );

  check('an ended job keeps its end, its counts and its digest, and takes no more results', () =>
    withLedger(async (ledger) => {
      const steps = planOf([{ width: 2, height: 2 }], 2, 1);
      await ledger.addPlan(jobId, steps, true);
      await ledger.commit(commitOf(shardsOf(steps)[0]!, steps));
      await ledger.setState(jobId, 'finalising', { nowMs: 3000 });
      const digest = 'abc';
      await ledger.results(jobId);
      await ledger.setState(jobId, 'complete', { nowMs: 4000, digest });
      const job = await ledger.getJob(jobId);
      assert.deepEqual([job?.state, job?.finishedMs, job?.digest, job?.counts.frames], ['complete', 4000, digest, 1]);
      assert.equal(await ledger.commit(commitOf(shardsOf(steps)[0]!, steps)), 'stale');
      await assert.rejects(ledger.results(jobId));

      await ledger.createJob({ jobId: 'job-2', spec, submittedMs: 1 });
      await ledger.setState('job-2', 'failed', { nowMs: 2, error: 'The disk is full' });
      assert.equal((await ledger.getJob('job-2'))?.error, 'The disk is full');
    }),
  );

  check('results are refused until the plan is complete and all its shards are done', () =>
    withLedger(async (ledger) => {
      const steps = planOf([{ width: 2, height: 2 }], 2, 1);
      await ledger.addPlan(jobId, steps, false);
      await assert.rejects(ledger.results(jobId));
      await ledger.commit(commitOf(shardsOf(steps)[0]!, steps));
      await assert.rejects(ledger.results(jobId));
      await ledger.addPlan(jobId, [], true);
      assert.equal((await ledger.results(jobId)).counted, 4n);
    }),
  );

  check('sources are settled up to the first that is not done or quarantined, and stay so', () =>
    withLedger(async (ledger) => {
      const sizes = Array.from({ length: 6 }, () => ({ width: 1, height: 1 }));
      const steps = planOf(sizes, 1, 1, new Set([1]));
      const shards = shardsOf(steps);
      await ledger.addPlan(jobId, steps, true);
      const settledTo = async (from: number, atMost = 99): Promise<number> =>
        (await ledger.settled(jobId, from, atMost)).next;
      assert.equal(await settledTo(0), 0);
      // Shards 0 … 4 are sources 0, 2, 3, 4 and 5.
      await ledger.commit(commitOf(shards[2]!, steps));
      await ledger.quarantineShard(jobId, shards[0]!.shard, 'The device ran out of memory', 3);
      assert.deepEqual([await settledTo(0), await settledTo(0, 1), await settledTo(2)], [2, 1, 2]);
      for (const shard of [1, 4, 3]) await ledger.commit(commitOf(shards[shard]!, steps));
      await ledger.results(jobId);
      assert.deepEqual(
        [await settledTo(0), await settledTo(0, 3), await settledTo(4, 1), await settledTo(6)],
        [6, 3, 5, 6],
      );
      const settled = await ledger.settled(jobId, 2, 3);
      assert.deepEqual(
        [...settledSources(settled, shapesOf(spec))].map(({ uri }) => uri),
        ['file:///in/2', 'file:///in/3', 'file:///in/4'],
      );
      assert.equal((await histogramsOf(ledger, oneCell)).length, 4);
    }),
  );

  check('a job without sources is done at once', () =>
    withLedger(async (ledger) => {
      await ledger.addPlan(jobId, [], true);
      assert.equal((await ledger.results(jobId)).counted, 0n);
      assert.deepEqual(await ledger.settled(jobId, 0, 99), { next: 0, runs: [] });
      assert.deepEqual(await histogramsOf(ledger, oneCell), []);
    }),
  );

  check('an attempt counts once, and a lower one counts nothing', () =>
    withLedger(async (ledger) => {
      await ledger.addPlan(jobId, planOf([{ width: 2, height: 2 }], 1, 1), true);
      for (const [shard, attempt] of [
        [0, 1],
        [1, 1],
        [1, 2],
        [1, 2],
        [1, 1],
      ] as const) {
        await ledger.addAttempt(jobId, shard, attempt);
      }
      assert.equal((await ledger.getJob(jobId))?.counts.attempts, 3);
    }),
  );

  check('a commit of an older epoch or of a shard that is done changes nothing', () =>
    withLedger(async (ledger) => {
      const steps = planOf([{ width: 2, height: 2 }], 1, 1);
      const [first, second] = shardsOf(steps);
      await ledger.addPlan(jobId, steps, true);
      assert.equal(await ledger.commit({ ...commitOf(first!, steps), epoch: epoch - 1 }), 'stale');
      assert.equal((await ledger.getJob(jobId))?.counts.shardsDone, 0);
      assert.equal(await ledger.commit(commitOf(first!, steps)), 'committed');
      const before = await ledger.getJob(jobId);
      assert.equal(await ledger.commit({ ...commitOf(first!, steps), attempt: 2 }), 'duplicate');
      await ledger.quarantineShard(jobId, first!.shard, 'too late', 3);
      assert.deepEqual(await ledger.getJob(jobId), before);
      assert.equal(await ledger.commit(commitOf(second!, steps)), 'committed');
    }),
  );

  check('a result that cannot be right is refused and may be committed well later', () =>
    withLedger(async (ledger) => {
      const steps = planOf([{ width: 3, height: 1 }], 2, 1);
      await ledger.addPlan(jobId, steps, true);
      const [tile, other] = shardsOf(steps).map((shard) => commitOf(shard, steps)) as [ShardCommit, ShardCommit];
      const before = await ledger.getJob(jobId);
      const wrong: Partial<SourceResult>[] = [{ counted: 1 }, { bins: [3] }, { source: 1 }];
      for (const change of wrong) {
        const results = tile.results.map((result) => ({ ...result, ...change }));
        await assert.rejects(ledger.commit({ ...tile, results }), { name: 'InvalidResultError' });
      }
      await assert.rejects(ledger.commit({ ...tile, shard: 2 }));
      assert.deepEqual(await ledger.getJob(jobId), before);
      assert.equal(await ledger.commit(tile), 'committed');
      assert.equal(await ledger.commit(other), 'committed');
    }),
  );

  const framesPlan = planOf(
    Array.from({ length: 3 }, () => ({ width: 2, height: 2 })),
    2,
    3,
  );
  const [framesShard] = shardsOf(framesPlan) as [Shard];
  const goodFrames = commitOf(framesShard, framesPlan, new Set([1]));
  const { found: goodFound, errors } = goodFrames as Required<ShardCommit>;
  const sums = (counted: string, ...counts: number[]) => {
    const bins = new Array<number>(pipeline.bins).fill(0);
    for (const [bin, count] of counts.entries()) bins[bin] = count;
    return [{ counted, sums: packCounts(bins) }];
  };
  const wrongFrames: Record<string, Partial<ShardCommit>> = {
    'that name no part': { found: { ...goodFound, part: '' } },
    'of fewer frames than were asked for': { found: { ...goodFound, found: 1 } },
    'with an error of a source of another shard': { errors: [{ ...errors[0]!, source: 7 }] },
    'with two errors of one source': { errors: [errors[0]!, errors[0]!], found: { ...goodFound, found: 1 } },
    'with results of tiles beside them': { results: [{ source: 0 } as SourceResult] },
    'of no pixels': { found: { ...goodFound, pixels: 0 } },
    'that count more pixels than they have': { found: { ...goodFound, parts: sums('9', 9) } },
    'whose bins hold other pixels than are counted': { found: { ...goodFound, parts: sums('8', 7) } },
    'of too few bins': { found: { ...goodFound, parts: [{ counted: '8', sums: packCounts([8]) }] } },
    'of two pipelines': { found: { ...goodFound, parts: [...goodFound.parts, ...goodFound.parts] } },
    'with a digest that is none': { found: { ...goodFound, digest: new Uint8Array(31) } },
  };
  for (const [what, change] of Object.entries(wrongFrames)) {
    check(`frames ${what} are refused, and change nothing`, () =>
      withLedger(async (ledger) => {
        await ledger.addPlan(jobId, framesPlan, true);
        const before = await ledger.getJob(jobId);
        await assert.rejects(ledger.commit({ ...goodFrames, ...change }), { name: 'InvalidResultError' });
        assert.deepEqual(await ledger.getJob(jobId), before);
        assert.equal(await ledger.commit(goodFrames), 'committed');
      }),
    );
  }

  check('a withdrawn shard counts nothing, and can be done again with the same results', () =>
    withLedger(async (ledger) => {
      await ledger.addPlan(jobId, framesPlan, true);
      assert.equal(await ledger.withdraw(jobId, 0), undefined);
      await ledger.addAttempt(jobId, 0, 1);
      await ledger.commit(goodFrames);
      const done = await ledger.getJob(jobId);
      const results = await ledger.results(jobId);
      const withdrawn = await ledger.withdraw(jobId, 0);
      assert.deepEqual([withdrawn?.node, withdrawn?.open.attempts, withdrawn?.planned], ['node', 1, 1]);
      assert.deepEqual(
        readable([{ kind: 'shard', shard: withdrawn!.open.shard }]),
        readable([{ kind: 'shard', shard: framesShard }]),
      );
      const open = (await ledger.getJob(jobId))!;
      assert.deepEqual([open.counts.frames, open.counts.pixels, open.counts.quarantined], [0, 0, 0]);
      assert.equal((await ledger.settled(jobId, 0, 99)).next, 0);
      await ledger.addAttempt(jobId, 0, 2);
      assert.equal(await ledger.commit({ ...goodFrames, attempt: 2 }), 'committed');
      const again = (await ledger.getJob(jobId))!;
      assert.deepEqual(again.counts, { ...done!.counts, attempts: 2 });
      const { counted, bins } = await ledger.results(jobId);
      assert.deepEqual([counted, bins], [results.counted, results.bins]);
    }),
  );

  check('giving up a shard quarantines its sources, also one whose other tiles were committed', () =>
    withLedger(async (ledger) => {
      const steps = planOf(
        [
          { width: 2, height: 1 },
          { width: 1, height: 1 },
        ],
        1,
        1,
      );
      const [left, right, frame] = shardsOf(steps);
      await ledger.addPlan(jobId, steps, true);
      await ledger.commit(commitOf(left!, steps));
      await ledger.commit(commitOf(frame!, steps));
      await ledger.quarantineShard(jobId, right!.shard, 'The device ran out of memory', 3);
      const { counted, job } = await ledger.results(jobId);
      assert.deepEqual(await histogramsOf(ledger, oneCell), [
        { uri: 'file:///in/1', bins: binsOf(1, { x: 0, y: 0, width: 1, height: 1 }) },
      ]);
      const settled = await ledger.settled(jobId, 0, 1);
      assert.deepEqual([...settledSources(settled, shapesOf(spec))][0], {
        state: 'quarantined',
        index: 0,
        uri: 'file:///in/0',
        version: '0 17.25',
        stage: 'compute',
        error: 'The device ran out of memory',
        attempts: 3,
      });
      assert.deepEqual([counted, job.counts.pixels, job.counts.quarantined, job.counts.frames], [1n, 1, 1, 1]);
    }),
  );

  check('seconds, nodes and devices are summed over the commits', () =>
    withLedger(async (ledger) => {
      const steps = planOf([{ width: 4, height: 1 }], 1, 1);
      await ledger.addPlan(jobId, steps, true);
      const nodes = ['b', 'a', 'b', 'b'].map((node) => ({ name: node, device: 'cpu' }));
      for (const [i, shard] of shardsOf(steps).entries()) {
        await ledger.commit({
          ...commitOf(shard, steps),
          node: nodes[i]!,
          stageSeconds: { decode: 0.5, ...(i && { read: 2 }) },
        });
      }
      const results = await ledger.results(jobId);
      assert.deepEqual(results.stageSeconds, { decode: 2, read: 6 });
      assert.deepEqual(results.nodes, [
        { name: 'a', device: 'cpu', shards: 1 },
        { name: 'b', device: 'cpu', shards: 3 },
      ]);
    }),
  );

  check('any tiling, order, repetition and retry gives the same results', async () => {
    const side = fc.integer({ min: 1, max: 9 });
    const source = fc.record({ width: side, height: side, fate: fc.constantFrom('good', 'good', 'broken', 'unread') });
    const job = fc.record({
      sources: fc.array(source, { maxLength: 6 }),
      cut: fc.record({ tilePx: side, batchFrames: fc.integer({ min: 1, max: 3 }) }),
      grid: fc.oneof(
        fc.constant(oneCell),
        fc.record({ rows: fc.constantFrom(1, 2, 5), columns: fc.constantFrom(1, 3) }),
      ),
      order: fc.infiniteStream(fc.nat()),
    });
    await fc.assert(
      fc.asyncProperty(job, ({ sources, cut, grid, order }) =>
        withLedger(async (ledger) => {
          const unread = new Set(sources.keys().filter((i) => sources[i]!.fate === 'unread'));
          const broken = new Set(sources.keys().filter((i) => sources[i]!.fate === 'broken'));
          const steps = planOf(sources, cut.tilePx, cut.batchFrames, unread);
          await ledger.addPlan(jobId, steps, true);
          const waiting = shardsOf(steps).flatMap((shard) => {
            const commit = commitOf(shard, steps, broken, grid);
            return [commit, { ...commit, attempt: 2 }, { ...commit, epoch: epoch - 1 }];
          });
          while (waiting.length) {
            const [commit] = waiting.splice(order.next().value! % waiting.length, 1);
            await ledger.commit(commit!);
          }
          const results = await ledger.results(jobId);
          assert.deepEqual(await comparable(ledger, grid), expectedResults(sources, grid));
          assert.equal(results.job.counts.shardsDone, results.job.counts.shards);
        }, grid),
      ),
      { numRuns },
    );
  });
}
