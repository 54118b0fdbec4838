import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { scratchUri } from '@halogrid/jobs/output-paths';
import type { PlanStep, Shard } from '@halogrid/jobs/shard';
import { sourcesOf } from '@halogrid/jobs/testing-planned';
import { cellsOf, type Grid } from '@halogrid/kernels';
import { binsOf, jobId, pipeline, planOf, shardsOf, spec } from '@halogrid/ledger/testing-ledger-scene';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import { memoryFolder, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { writtenCommit } from '../testing/written-commit.ts';
import { LiveCells } from './live-cells.ts';
import { partsOf, partsPath } from './write-part.ts';

const folder = await mkdtemp(join(memoryFolder, 'halogrid-cells-'));
after(() => rm(folder, { recursive: true, force: true }));

const limits = { answerMs: 3_600_000, kept: 4, idleMs: 3_600_000 };
let files = 0;

/** A job whose sources have these sizes. */
async function openJob(sizes: { width: number; height: number }[], grid: Grid, tilePx: number, batchFrames: number) {
  const path = join(folder, String(files++));
  const own = { ...spec, grid, out: pathToFileURL(join(path, 'out')).href };
  await mkdir(fileURLToPath(scratchUri(own.out)), { recursive: true });
  const ledger = await openLogLedger(path, undefined, { partsOf });
  await ledger.createJob({ jobId, spec: own, submittedMs: 1 });
  const plan = planOf(sizes, tilePx, batchFrames);
  await ledger.addPlan(jobId, plan, true);
  const commit = async (shard: Shard, broken?: Set<number>): Promise<void> => {
    await ledger.commit({ ...(await writtenCommit(own, shard, plan, broken)), epoch: ledger.epoch });
  };
  return { ledger, plan, commit, asked: { jobId, part: 0, spec: own } };
}

/** Counts of a cell over the sources before `end` that are not broken. */
function expected(plan: PlanStep[], grid: Grid, cell: number, end: number, broken: ReadonlySet<number>): number[] {
  const sum = new Array<number>(pipeline.bins).fill(0);
  for (const { index, size } of sourcesOf(plan).slice(0, end)) {
    const found = cellsOf(grid, size!, { x: 0, y: 0, ...size! }).find(
      ({ row, column }) => row * grid.columns + column === cell,
    );
    if (!found || broken.has(index)) continue;
    for (const [bin, count] of binsOf(index, found.rect).entries()) sum[bin]! += count;
  }
  return sum;
}

test('a cell is the exact sum over the first sources, however they are cut and in whatever order answers come', async () => {
  const side = fc.integer({ min: 3, max: 20 });
  const job = fc.record({
    sizes: fc.array(fc.record({ width: side, height: side }), { minLength: 1, maxLength: 12 }),
    grid: fc.record({ rows: fc.integer({ min: 1, max: 3 }), columns: fc.integer({ min: 1, max: 3 }) }),
    tilePx: fc.constantFrom(8, 32),
    batchFrames: fc.integer({ min: 1, max: 4 }),
    broken: fc.uniqueArray(fc.nat(11), { maxLength: 2 }),
    order: fc.infiniteStream(fc.nat()),
  });
  await fc.assert(
    fc.asyncProperty(job, async ({ sizes, grid, tilePx, batchFrames, broken, order }) => {
      const { ledger, plan, commit, asked } = await openJob(sizes, grid, tilePx, batchFrames);
      const cells = new LiveCells(ledger, limits);
      const isBroken = new Set(broken);
      const count = grid.rows * grid.columns;
      const check = async (): Promise<number> => {
        const cell = order.next().value % count;
        const { bins, sources } = await cells.sum({ ...asked, cell });
        assert.deepEqual([...bins], expected(plan, grid, cell, sources, isBroken));
        return sources;
      };
      assert.equal(await check(), 0);
      const shards = shardsOf(plan);
      while (shards.length > 0) {
        const [shard] = shards.splice(order.next().value % shards.length, 1);
        await commit(shard!, isBroken);
        await check();
      }
      await ledger.results(jobId);
      assert.equal(await check(), sizes.length);
      await cells.close();
      // From the start again, as for a caller after the idle time.
      assert.equal(await check(), sizes.length);
      await cells.close();
      await ledger.close();
    }),
    { numRuns: repeated(6, 30) },
  );
});

test('a question is answered in time with a part of the sum, and asking again gives the rest, however many callers ask at once', async () => {
  const grid = { rows: 2, columns: 2 };
  const sizes = Array.from({ length: 4500 }, () => ({ width: 4, height: 4 }));
  const { ledger, plan, commit, asked } = await openJob(sizes, grid, 32, 3000);
  for (const shard of shardsOf(plan)) await commit(shard);
  await ledger.results(jobId);
  const cells = new LiveCells(ledger, { ...limits, answerMs: 0 });
  const answers = await Promise.all([0, 3, 3].map((cell) => cells.sum({ ...asked, cell })));
  assert.ok(answers[0]!.sources > 0 && answers[0]!.sources < 4500, `${answers[0]!.sources}`);
  assert.equal(answers.at(-1)!.sources, 4500);
  for (const [i, { bins, sources }] of answers.entries())
    assert.deepEqual([...bins], expected(plan, grid, i === 0 ? 0 : 3, sources, new Set()));
  await cells.close();
  await ledger.close();
});

test('a damaged part rejects with a sentence, and the next question reads it again; too many counts are refused', async () => {
  const grid = { rows: 2, columns: 2 };
  const { ledger, plan, commit, asked } = await openJob([{ width: 4, height: 4 }], grid, 32, 1);
  const [shard] = shardsOf(plan);
  await commit(shard!);
  await ledger.results(jobId);
  const cells = new LiveCells(ledger, limits);
  const parts = partsPath(asked.spec.out);
  const [part] = await readdir(parts);
  const file = join(parts, part!, 'features.parquet');
  const whole = await readFile(file);
  await truncate(file, 3);
  const sentence = `Part '${join(parts, part!)}' is damaged: features.parquet ends early`;
  for (let i = 0; i < 2; i++) await assert.rejects(cells.sum({ ...asked, cell: 0 }), { message: sentence });
  await rm(file);
  await assert.rejects(cells.sum({ ...asked, cell: 0 }), /^Error: Part '.*' cannot be read: ENOENT: /);
  await writeFile(file, whole);
  const { bins, sources } = await cells.sum({ ...asked, cell: 0 });
  assert.deepEqual([[...bins], sources], [expected(plan, grid, 0, 1, new Set()), 1]);

  const many = { ...asked.spec, grid: { rows: 64, columns: 65 } };
  await assert.rejects(cells.sum({ ...asked, spec: many, cell: 0 }), {
    name: 'Refusal',
    kind: 'unmet',
    message: 'Its 4160 cells have 1064960 counts, more than the 1048576 that are told',
  });
  const operations = [{ kernel: 'lbp', parameters: { labels: 'var' }, border: '' }];
  const none = await cells.sum({ ...asked, spec: { ...asked.spec, pipeline: { operations } }, cell: 0 });
  assert.deepEqual([none.bins.length, none.sources], [0, 0]);
  await cells.close();
  await ledger.close();
});
