import assert from 'node:assert/strict';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createPipeline, specifiedOperations } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import type { CaptureTime } from '@halogrid/sources/captured';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { indexesOf } from '../job/planned-sources.ts';
import type { PlanStep, Shard } from '../job/shard.ts';
import { memoryFolder } from '../testing/memory-folder.ts';
import { batchSteps } from '../testing/planned.ts';
import type { Ledger } from './ledger.ts';
import { countedRows } from './settled-rows.ts';
import { asSent, jobId, pipeline, shardsOf, spec } from './testing/ledger-scene.ts';
import { openLogLedger } from './testing/open-log-ledger.ts';
import { settledHistograms, settledRows } from './testing/settled-rows.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-settled-'));
after(() => rm(folder, { recursive: true, force: true }));

const rank = createPipeline([{ kernel: 'lbp', parameters: { labels: 'uniform' }, border: 'zero' }]);
const named = [pipeline, rank].map((each, i) => {
  return { name: `p${i}`, pipeline: { operations: specifiedOperations(each) }, op: [] };
});
const changedMs = (index: number): number => 1_700_000_000_000 + index;

let ledgers = 0;

/** A job whose frames are planned in blocks of `shardFrames`, and answered together but for those that are broken. */
async function openJob(
  more: Partial<JobSpec>,
  frames: number,
  shardFrames: number,
  isBroken: (index: number) => boolean,
) {
  const ledger = await openLogLedger(join(folder, String(ledgers++)));
  await ledger.createJob({ jobId, spec: { ...spec, ...more }, submittedMs: 1 });
  const steps: PlanStep[] = [];
  for (let first = 0; first < frames; first += shardFrames) {
    const sources = Array.from({ length: Math.min(shardFrames, frames - first) }, (_, nth) => {
      const index = first + nth;
      const version = `20 ${changedMs(index)}`;
      return { index, uri: `file:///in/${index}.jpg`, version, sizeBytes: 20 };
    });
    steps.push(...batchSteps(first / shardFrames, sources));
  }
  await ledger.addPlan(jobId, steps, true);
  const shards = shardsOf(steps);
  const parts = more.pipelines ? [pipeline, rank] : [pipeline];
  const answer = async (shard: Shard): Promise<void> => {
    const all = indexesOf(shard.work);
    const results = all
      .filter((index) => !isBroken(index))
      .flatMap((index) =>
        parts.map(({ bins }, part) => ({
          ...{ source: index, size: { width: 2, height: 3 }, rect: { x: 0, y: 0, width: 2, height: 3 }, counted: 6 },
          bins: Array.from({ length: bins }, (_, bin) => (bin === index % bins ? 6 : 0)),
          ...(part > 0 ? { pipeline: part } : index % 2 === 0 && { captured: { localMs: 1000 * index } }),
        })),
      );
    const errors = all.filter(isBroken).map((source) => ({ source, stage: 'decode', error: `${source} is broken` }));
    const commit = { jobId, shard: shard.shard, attempt: 1, epoch: ledger.epoch, stageSeconds: {}, inputBytes: 0 };
    const node = { name: 'node', device: 'cpu' };
    assert.equal(await ledger.commit(asSent({ ...commit, node, results, errors }, shard)), 'committed');
  };
  return { ledger, shards, answer };
}

/** All settled sources, asked for `atMost` at a time. */
async function readAll(ledger: Ledger, atMost: number, part: number) {
  const rows = [];
  const kinds = new Set<string>();
  for (let from = 0, next = -1; next !== from; ) {
    from = Math.max(next, 0);
    const settled = await ledger.settled(jobId, from, atMost, part);
    for (const { kind } of settled.runs) kinds.add(kind);
    const found = [...settledRows(settled)];
    const done = countedRows(found);
    const bins = part === 0 ? pipeline.bins : rank.bins;
    const counts = [...settledHistograms(settled, bins).map(({ bins }) => bins.indexOf(6))];
    for (const [i, row] of done.entries()) assert.equal(counts[i], row.index % bins);
    rows.push(...found);
    next = settled.next;
  }
  return { rows, kinds };
}

test('settled frames are the same by shard as one by one, whatever the shards, and however many are asked for', async () => {
  const jobs: [Partial<JobSpec>, (index: number) => CaptureTime | undefined][] = [
    [{}, (index) => (index % 2 === 0 ? { localMs: 1000 * index } : undefined)],
    [{ captured: { from: 'mtime', zone: '' } }, (index) => ({ localMs: changedMs(index), offsetMinutes: 0 })],
    [
      { pipeline: undefined, pipelines: { named } },
      (index) => (index % 2 === 0 ? { localMs: 1000 * index } : undefined),
    ],
  ];
  const cut = fc.record({
    job: fc.constantFrom(...jobs),
    frames: fc.integer({ min: 1, max: 40 }),
    shardFrames: fc.integer({ min: 1, max: 15 }),
    atMost: fc.integer({ min: 1, max: 50 }),
    broken: fc.uniqueArray(fc.nat(39), { maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(cut, async ({ job: [more, capturedOf], frames, shardFrames, atMost, broken }) => {
      const { ledger, shards, answer } = await openJob(more, frames, shardFrames, (index) => broken.includes(index));
      for (const shard of shards.toReversed()) await answer(shard);
      const results = await ledger.results(jobId);
      for (const [part, its] of (results.parts ?? [{ results }]).entries()) {
        const { rows, kinds } = await readAll(ledger, atMost, part);
        const outcomes = [...its.results.sources];
        assert.equal(rows.length, frames);
        for (const [index, row] of rows.entries()) {
          const outcome = outcomes[index]!;
          const planned = [row.index, row.uri, row.name, row.version, row.state];
          const version = `20 ${changedMs(index)}`;
          assert.deepEqual(planned, [index, `file:///in/${index}.jpg`, String(index), version, outcome.state]);
          if (row.state === 'quarantined' || outcome.state === 'quarantined') continue;
          assert.deepEqual([row.width, row.height, row.counted, row.captured], [2, 3, 6, capturedOf(index)]);
          assert.equal(row.digest, Buffer.from(outcome.digest).toString('hex'));
        }
        if (broken.length === 0) assert.deepEqual([...kinds], ['frames']);
      }
      await ledger.close();
    }),
    // No frame of the second pipeline is counted.
    { numRuns: repeated(12, 40), examples: [[{ job: jobs[2]!, frames: 1, shardFrames: 1, atMost: 1, broken: [0] }]] },
  );
});

test('a file of the ledger that is cut or has changed is told in a sentence', async () => {
  const { ledger, shards, answer } = await openJob({}, 8, 4, () => false);
  for (const shard of shards) await answer(shard);
  await ledger.results(jobId);
  const settled = await ledger.settled(jobId, 0, 8);
  assert.equal([...settledRows(settled)].length, 8);
  const changed = join(folder, 'changed');
  await writeFile(changed, Buffer.alloc(2 ** 16));
  assert.throws(
    () => [...settledRows({ runs: settled.runs.map((run) => ({ ...run, file: changed })) })],
    /has changed at byte \d+ since it was written$/,
  );
  await truncate(settled.runs[0]!.file, 10);
  assert.throws(() => [...settledRows(settled)], /^DamagedLogError: The log '.*' has \d+ bytes, but \d+ were written$/);
  await ledger.close();
});
