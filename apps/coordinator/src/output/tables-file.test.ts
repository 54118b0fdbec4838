import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createPipeline, type Grid, specifiedOperations } from '@halogrid/kernels';
import { JobSpec } from '@halogrid/proto';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { eventually, repeated } from '@halogrid/testing';
import { SpareThread } from '@halogrid/threads';
import fc from 'fast-check';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import type { PlanStep } from '../job/shard.ts';
import type { ShardCommit } from '../ledger/ledger.ts';
import { openLogLedger } from '../ledger/testing/open-log-ledger.ts';
import { batchSteps, plannedSources } from '../testing/planned.ts';
import { atOnce } from './output-wait.ts';
import { TablesFile } from './tables-file.ts';
import { tablePaths } from './tables-order.ts';

const pipeline = createPipeline([{ kernel: 'lbp', parameters: {}, border: 'zero' }]);
const operations = specifiedOperations(pipeline);
/** Every cell of the grids below has four pixels or more. */
const size = { width: 40, height: 40 };

/** Of few bins: by a thread of its own, and by this one. */
const whereWritten = [0, 2 ** 24];

type Fate = 'done' | 'broken' | 'given up' | 'unread';

test('the tables hold what the histograms and the ledger say, in order, whatever the order in which sources finished', async (t) => {
  const job = fc.record({
    fates: fc.array(fc.constantFrom<Fate>('done', 'done', 'done', 'broken', 'given up', 'unread'), { maxLength: 25 }),
    order: fc.infiniteStream(fc.nat()),
    // Histograms of 300 cells fill blocks of the ledger's file, so that sources can be read before the end.
    grid: fc.constantFrom<Grid>({ rows: 1, columns: 1 }, { rows: 2, columns: 3 }, { rows: 20, columns: 15 }),
    fewBins: fc.constantFrom(...whereWritten),
  });
  await fc.assert(
    fc.asyncProperty(job, async ({ fates, order, grid, fewBins }) => {
      const { tables, settle, path, folder, ledger } = await stage(t, fates, { grid, fewBins });
      tables.start();
      const waiting = [...fates.keys()];
      while (waiting.length > 0) {
        const [source] = waiting.splice(order.next().value! % waiting.length, 1);
        await settle(source!);
      }
      await ledger.results('job');
      await tables.finish(fates.length, { digest: 'abc' });
      assert.deepEqual(await metadataOf(path), [{ key: 'halogrid', value: '{"digest":"abc"}' }]);
      assert.deepEqual(await readRows(path), expectedRows(fates, grid));
      const isSettledBad = fates.some((fate) => fate !== 'done');
      const files = ['features.parquet', 'sources.jsonl', ...(isSettledBad ? ['errors.jsonl'] : [])];
      const there = (await readdir(folder)).filter((name) => !['scratch'].includes(name));
      assert.deepEqual(there.sort(), files.sort());
      const [, ...lines] = (await readFile(join(folder, 'sources.jsonl'), 'utf8')).trimEnd().split('\n');
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)).map(({ uri, name, quarantined }) => [uri, name, quarantined]),
        fates.map((fate, i) => [uriOf(i), ...(fate === 'done' ? [nameOf(i), undefined] : [undefined, true])]),
      );
      assert.deepEqual(await readdir(join(folder, 'scratch')), []);
    }),
    { numRuns: repeated(5, 15) },
  );
});

test('the file grows while results come, up to the first source that is missing', async (t) => {
  const grid = { rows: 20, columns: 20 };
  const fates = Array<Fate>(60).fill('done');
  const { tables, settle, folder, path, ledger, asked } = await stage(t, fates, { grid });
  tables.start();
  for (let source = 59; source >= 30; source--) await settle(source);
  await eventually('a second question', () => asked.length >= 2);
  assert.deepEqual(new Set(asked), new Set([0]), 'nothing is written before the first');
  // Histograms of 100 kB each: most of these are in the ledger's file before the last came.
  for (let source = 0; source < 30; source++) await settle(source);
  await eventually('a file that grows', async () => {
    tables.advance();
    const [unfinished] = await readdir(join(folder, 'scratch'));
    return (await stat(join(folder, 'scratch', unfinished!))).size > 1000;
  });
  await ledger.results('job');
  await tables.finish(60, {});
  assert.deepEqual(await readRows(path), expectedRows(fates, grid));
});

test('what cannot be written is told once, in one sentence', async (t) => {
  for (const fewBins of whereWritten) {
    const { tables, settle, path, folder, failures, ledger } = await stage(t, ['done'], { fewBins });
    await rm(join(folder, 'scratch'), { recursive: true });
    await settle(0);
    await ledger.results('job');
    const failure = new RegExp(`^Error: '${path}' could not be written: ENOENT: .*scratch'`);
    await assert.rejects(tables.finish(1, {}), failure);
    await assert.rejects(tables.finish(1, {}), failure);
    assert.equal(failures.length, 1);
    assert.match(String(failures[0]), failure);
  }
});

test('histograms that are cut short or missing fail the file', async (t) => {
  for (const fewBins of whereWritten) {
    const cut = await stage(t, ['done', 'done'], { fewBins });
    for (const source of [0, 1]) await cut.settle(source);
    await cut.ledger.results('job');
    const { runs } = await cut.ledger.settled('job', 0, 2);
    await truncate(runs[0]!.file, 300);
    await assert.rejects(
      cut.tables.finish(2, {}),
      /features.parquet' could not be written: The file of .* ends early$/,
    );
    assert.deepEqual((await readdir(cut.folder)).sort(), ['scratch']);

    const missing = await stage(t, ['done', 'done'], { fewBins });
    await missing.settle(0);
    await assert.rejects(
      missing.tables.finish(2, {}),
      /could not be written: the histograms of source 1 are not there$/,
    );
    await missing.tables.abort();
  }
});

test('a thread that ends by itself fails the file, while it works and while it waits', async (t) => {
  for (const program of [
    'process.exit(3)',
    'import { parentPort as p } from "node:worker_threads"; p.on("message", () => process.exit(3))',
  ]) {
    const { tables, settle, path, failures, ledger } = await stage(t, ['done'], { program });
    tables.start();
    await settle(0);
    await ledger.results('job');
    await assert.rejects(tables.finish(1, {}), {
      message: `'${path}' could not be written: its thread exited with 3`,
    });
    assert.equal(failures.length, 1);
  }
});

test('an abort ends what writes, whatever it does, and leaves no file', async (t) => {
  const fates = Array<Fate>(20).fill('done');
  for (const fewBins of whereWritten) {
    for (const settledSources of [0, 20]) {
      const { tables, settle, folder, failures, ledger } = await stage(t, fates, { fewBins });
      tables.start();
      for (let source = 0; source < settledSources; source++) await settle(source);
      if (settledSources === 20) await ledger.results('job');
      const finished = settledSources === 20 && assert.rejects(tables.finish(20, {}), /not wanted any more$/);
      await tables.abort();
      await tables.abort();
      await finished;
      tables.start();
      assert.ok(!(await readdir(folder)).includes('features.parquet'));
      assert.deepEqual(failures, []);
    }
    const { tables, folder } = await stage(t, fates, { fewBins });
    await tables.abort();
    tables.start();
    await assert.rejects(tables.finish(20, {}), /not wanted any more$/);
    assert.deepEqual(await readdir(join(folder, 'scratch')), []);
  }
});

/** A ledger with a job of a frame a shard, planned, and the features of it. */
async function stage(
  t: TestContext,
  fates: Fate[],
  { grid = { rows: 1, columns: 1 }, program, fewBins = 0 }: { grid?: Grid; program?: string; fewBins?: number } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-features-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'scratch'));
  const logs = await mkdtemp(join(tmpdir(), 'halogrid-logs-'));
  t.after(() => rm(logs, { recursive: true, force: true }));
  const ledger = await openLogLedger(logs);
  t.after(() => ledger.close());
  await ledger.createJob({
    jobId: 'job',
    spec: JobSpec.fromPartial({ pipeline: { operations }, grid }),
    submittedMs: 0,
  });
  const shardOf = (source: number): number => fates.slice(0, source).filter((fate) => fate !== 'unread').length;
  const steps = fates.flatMap((fate, index): PlanStep[] => {
    const source = { index, uri: uriOf(index), name: nameOf(index) };
    const error = { stage: 'read', error: 'It is not there' };
    return fate === 'unread'
      ? [{ kind: 'sources', sources: plannedSources([{ ...source, error }]) }]
      : batchSteps(shardOf(index), [source]);
  });
  await ledger.addPlan('job', steps, true);

  const asked: number[] = [];
  const failures: Error[] = [];
  const path = join(folder, 'features.parquet');
  const pathsIn = (folder: string) => tablePaths((file) => join(folder, file));
  const tables = new TablesFile({
    paths: pathsIn(folder),
    unfinished: pathsIn(join(folder, 'scratch')),
    shape: histogramShape(pipeline, grid),
    settled: (from, atMost) => {
      asked.push(from);
      return ledger.settled('job', from, atMost);
    },
    failed: (error) => failures.push(error),
    until: atOnce,
    fewBins,
    ...(program && { thread: new SpareThread(new URL(`data:text/javascript,${encodeURIComponent(program)}`)) }),
  });
  t.after(() => tables.abort());

  const settle = async (source: number): Promise<void> => {
    const fate = fates[source]!;
    if (fate === 'given up') await ledger.quarantineShard('job', shardOf(source), 'The device ran out of memory', 3);
    else if (fate !== 'unread') await ledger.commit({ ...commitOf(source, fate, grid), shard: shardOf(source) });
    tables.advance();
  };
  return { tables, settle, folder, path, ledger, asked, failures };
}

function commitOf(source: number, fate: Fate, grid: Grid): ShardCommit {
  const result = { source, size, rect: { x: 0, y: 0, ...size } };
  const bins = cellsOfSource(source, grid).flat();
  return {
    jobId: 'job',
    shard: 0,
    attempt: 1,
    epoch: 1,
    node: { name: 'node', device: 'cpu' },
    results: fate === 'done' ? [{ ...result, counted: 2 * grid.rows * grid.columns, bins }] : [],
    errors: fate === 'broken' ? [{ source, stage: 'decode', error: 'It is broken' }] : [],
    stageSeconds: {},
    inputBytes: 0,
  };
}

/** Two pixels in each cell, in bins that tell source and cell apart. */
function cellsOfSource(source: number, { rows, columns }: Grid): number[][] {
  return Array.from({ length: rows * columns }, (_, cell) => {
    const bins = Array<number>(256).fill(0);
    bins[source]!++;
    bins[cell % 256]!++;
    return bins;
  });
}

function expectedRows(fates: Fate[], grid: Grid): Record<string, unknown>[] {
  return fates.flatMap((fate, source) => {
    if (fate !== 'done') return [];
    return cellsOfSource(source, grid).map((histogram, cell) => {
      const [cell_row, cell_col] = [Math.floor(cell / grid.columns), cell % grid.columns];
      return {
        source: uriOf(source),
        name: nameOf(source),
        frame: 0,
        timestamp_ms: null,
        captured_at: null,
        camera: null,
        cell_row,
        cell_col,
        counted: 2n,
        histogram,
      };
    });
  });
}

const nameOf = (source: number): string => `name-${source}`;

async function metadataOf(path: string) {
  return (await parquetMetadataAsync(await asyncBufferFromFile(path))).key_value_metadata;
}

async function readRows(path: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: await asyncBufferFromFile(path) });
}

const uriOf = (source: number): string => `file:///in/${source}`;
