import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { PlannedSources } from '@halogrid/jobs/planned-sources';
import type { PlanStep, ShardWork, SourceResult } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { createPipeline, type Grid, specifiedOperations } from '@halogrid/kernels';
import { foundShard } from '@halogrid/ledger/testing-memory-parts';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import { JobSpec } from '@halogrid/proto';
import { type FoundInPart, PartWriter } from '@halogrid/results/part-writer';
import { eventually, memoryFolder, repeated } from '@halogrid/testing';
import { SpareThread } from '@halogrid/threads';
import fc from 'fast-check';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { LostPartError } from './lost-part-error.ts';
import { atOnce } from './output-wait.ts';
import { TablesFile } from './tables-file.ts';
import { tablePaths } from './tables-order.ts';
import { partPipelines, partsOf, partsPath } from './write-part.ts';

const pipeline = createPipeline([{ kernel: 'lbp', parameters: {}, border: 'zero' }]);
const operations = specifiedOperations(pipeline);
/** Every cell of the grids below has four pixels or more. */
const size = { width: 40, height: 40 };
/** An image in two tiles; the lower one has one line. */
const tiles = [
  { x: 0, y: 0, width: 40, height: 39 },
  { x: 0, y: 39, width: 40, height: 1 },
];

/** Values of `fewBins`: tables are written by a thread of their own, or by this one. */
const whereWritten = [0, 2 ** 24];

type Fate = 'done' | 'tiled' | 'kept' | 'broken' | 'given up' | 'unread';

/** The entry of an input in errors.jsonl. */
const failures: Partial<Record<Fate, { stage: string; error: string; attempts: number }>> = {
  broken: { stage: 'decode', error: 'It is broken', attempts: 1 },
  'given up': { stage: 'compute', error: 'The device ran out of memory', attempts: 3 },
  unread: { stage: 'read', error: 'It is not there', attempts: 0 },
};

test('the tables have the contents of the parts and the ledger, in order, whatever the order in which sources finished', async (t) => {
  const every: Fate[] = ['tiled', 'done', 'kept', 'broken', 'given up', 'unread'];
  const job = fc.record({
    fates: fc.array(fc.constantFrom<Fate>('done', 'done', ...every), { maxLength: 25 }),
    order: fc.array(fc.nat(), { minLength: 25, maxLength: 25 }),
    grid: fc.constantFrom<Grid>({ rows: 1, columns: 1 }, { rows: 2, columns: 3 }, { rows: 20, columns: 15 }),
    fewBins: fc.constantFrom(...whereWritten),
  });
  await fc.assert(
    fc.asyncProperty(job, async ({ fates, order, grid, fewBins }) => {
      const { tables, settle, path, folder, scratch, ledger } = await stage(t, fates, { grid, fewBins });
      tables.start();
      const waiting = [...fates.keys()];
      while (waiting.length > 0) {
        const [source] = waiting.splice(order[waiting.length - 1]! % waiting.length, 1);
        await settle(source!);
      }
      await ledger.results('job');
      const [summary] = await tables.finish(fates.length, [{ of: 'abc' }]);
      assert.deepEqual(await metadataOf(path), [
        { key: 'halogrid', value: JSON.stringify({ of: 'abc', digest: summary!.digest }) },
      ]);
      assert.deepEqual(await readRows(path), expectedRows(fates, grid));
      const bad = fates.flatMap((fate, source) => {
        const failure = failures[fate];
        return failure ? [{ uri: uriOf(source), frame: 0, ...failure }] : [];
      });
      const files = ['features.parquet', 'sources.jsonl', ...(bad.length > 0 ? ['errors.jsonl'] : [])];
      assert.deepEqual((await readdir(folder)).filter((name) => name !== '.halogrid').sort(), files.sort());
      if (bad.length > 0) assert.deepEqual(await linesOf(join(folder, 'errors.jsonl')), bad);
      const [, ...lines] = await linesOf(join(folder, 'sources.jsonl'));
      assert.deepEqual(
        lines.map(({ uri, name, quarantined }) => [uri, name, quarantined]),
        fates.map((fate, i) => [uriOf(i), ...(failures[fate] ? [undefined, true] : [nameOf(i), undefined])]),
      );
      assert.deepEqual(await unfinishedIn(scratch), []);
    }),
    {
      numRuns: repeated(5, 15),
      examples: whereWritten.map((fewBins) => [
        { fates: every, order: [0, 1, 2, 0, 4, 3], grid: { rows: 2, columns: 3 }, fewBins },
      ]),
    },
  );
});

test('the tables are written while results come, up to the first source that is missing', async (t) => {
  const fates = Array<Fate>(20).fill('done');
  const { tables, settle, scratch, path, ledger, asked } = await stage(t, fates);
  tables.start();
  for (let source = 19; source >= 10; source--) await settle(source);
  await eventually('a second question', () => asked.length >= 2);
  assert.deepEqual(new Set(asked), new Set([0]), 'nothing is written before the first');
  for (let source = 0; source < 10; source++) await settle(source);
  await eventually('a question for later sources', () => {
    tables.advance();
    return asked.at(-1)! >= 10;
  });
  assert.ok((await unfinishedIn(scratch)).some((name) => name.startsWith('features.parquet')));
  await ledger.results('job');
  await tables.finish(20, [{}]);
  assert.deepEqual(await readRows(path), expectedRows(fates, { rows: 1, columns: 1 }));
});

test('`failed` is called once, with one sentence, if the tables cannot be written', async (t) => {
  for (const fewBins of whereWritten) {
    const { tables, settle, path, scratch, told, ledger } = await stage(t, ['done'], { fewBins });
    await settle(0);
    await ledger.results('job');
    await rm(scratch, { recursive: true });
    const failure = new RegExp(`^Error: '${path}' could not be written: ENOENT: .*halogrid'`);
    await assert.rejects(tables.finish(1, [{}]), failure);
    await assert.rejects(tables.finish(1, [{}]), failure);
    assert.equal(told.length, 1);
    assert.match(String(told[0]), failure);
  }
});

/** Damages to the part of a shard, and the resulting sentence. */
const damages: [string, (part: string) => Promise<unknown>, RegExp][] = [
  ['cut short', (part) => truncate(join(part, 'features.parquet'), 300), /features\.parquet ends early$/],
  ['without its list', (part) => truncate(join(part, 'sources.parquet'), 5), /sources\.parquet ends early$/],
  ['missing', (part) => rm(part, { recursive: true }), /cannot be read: ENOENT: /],
  ['altered', (part) => alter(join(part, 'features.parquet')), /is damaged: features\.parquet /],
];

test('a part that is cut short, missing or altered fails the tables and names its shard, which may be done again', async (t) => {
  for (const fewBins of whereWritten) {
    for (const [name, damage, expected] of damages) {
      const fates: Fate[] = ['unread', 'done', 'done', 'done'];
      const { tables, settle, told, partOf, ledger, openTables, ...at } = await stage(t, fates, { fewBins });
      const { folder, scratch, path } = at;
      for (const source of fates.keys()) await settle(source);
      await ledger.results('job');
      await damage(partOf(2));
      const isLost = (error: Error): boolean => {
        assert.ok(error instanceof LostPartError, `${name}: ${error}`);
        assert.match(error.message, expected);
        assert.ok(error.message.startsWith(`Part '${partOf(2)}' `), error.message);
        assert.equal(error.shard, 1);
        return true;
      };
      await assert.rejects(tables.finish(4, [{}]), isLost);
      assert.deepEqual(told.map(isLost), [true]);
      assert.deepEqual(await readdir(folder), ['.halogrid']);
      if (fewBins > 0) assert.deepEqual(await unfinishedIn(scratch), []);

      const again = openTables();
      assert.ok(await ledger.withdraw('job', 1));
      await settle(2);
      await ledger.results('job');
      await again.finish(4, [{}]);
      assert.deepEqual(await readRows(path), expectedRows(fates, { rows: 1, columns: 1 }));
      assert.deepEqual(await unfinishedIn(scratch), []);
    }
  }
});

test("a part that differs from its node's answer names its shard as well", async (t) => {
  const lies: [(found: FoundInPart) => Partial<FoundInPart>, RegExp][] = [
    [() => ({ digest: Buffer.alloc(32) }), /has results of another digest than was answered$/],
    [({ pixels }) => ({ pixels: pixels + 1 }), /has 1600 pixels instead of 1601$/],
    [() => ({ part: randomUUID() }), /cannot be read: ENOENT/],
  ];
  for (const [lie, expected] of lies) {
    const { tables, settle, ledger } = await stage(t, ['done', 'done'], { fewBins: 2 ** 24 });
    await settle(0);
    await settle(1, lie);
    await ledger.results('job');
    await assert.rejects(tables.finish(2, [{}]), (error: LostPartError) => {
      assert.match(error.message, expected);
      assert.deepEqual(
        [error.name, error.shard, error.isFalse],
        ['LostPartError', 1, !error.message.includes('ENOENT')],
      );
      return true;
    });
  }
});

test('a log that is cut short and a source that is not settled fail the file', async (t) => {
  for (const fewBins of whereWritten) {
    const cut = await stage(t, ['done', 'done'], { fewBins });
    for (const source of [0, 1]) await cut.settle(source);
    await cut.ledger.results('job');
    const { runs } = await cut.ledger.settled('job', 0, 2);
    assert.ok(runs[1]?.kind === 'found');
    const { file, offset } = runs[1].planned;
    cut.answer({ next: 2, runs });
    await truncate(file, offset + 1);
    await assert.rejects(
      cut.tables.finish(2, [{}]),
      /features.parquet' could not be written: The log '.*' has \d+ bytes, but \d+ were written$/,
    );
    assert.deepEqual(await readdir(cut.folder), ['.halogrid']);

    const missing = await stage(t, ['done', 'done'], { fewBins });
    await missing.settle(0);
    await assert.rejects(missing.tables.finish(2, [{}]), /could not be written: the result of source 1 is missing$/);
    await missing.tables.abort();
  }
});

test('a thread that ends by itself fails the file, while it works and while it waits', async (t) => {
  for (const program of [
    'process.exit(3)',
    'import { parentPort as p } from "node:worker_threads"; p.on("message", () => process.exit(3))',
  ]) {
    const { tables, settle, path, told, ledger } = await stage(t, ['done'], { program });
    tables.start();
    await settle(0);
    await ledger.results('job');
    await assert.rejects(tables.finish(1, [{}]), {
      message: `'${path}' could not be written: its thread exited with 3`,
    });
    assert.equal(told.length, 1);
  }
});

test('an abort stops the writer in any state, and leaves no file', async (t) => {
  const fates = Array<Fate>(20).fill('done');
  for (const fewBins of whereWritten) {
    for (const settledSources of [0, 20]) {
      const { tables, settle, folder, told, ledger } = await stage(t, fates, { fewBins });
      tables.start();
      for (let source = 0; source < settledSources; source++) await settle(source);
      if (settledSources === 20) await ledger.results('job');
      const finished = settledSources === 20 && assert.rejects(tables.finish(20, [{}]), /not wanted any more$/);
      await tables.abort();
      await tables.abort();
      await finished;
      tables.start();
      assert.ok(!(await readdir(folder)).includes('features.parquet'));
      assert.deepEqual(told, []);
    }
    const { tables, scratch } = await stage(t, fates, { fewBins });
    await tables.abort();
    tables.start();
    await assert.rejects(tables.finish(20, [{}]), /not wanted any more$/);
    assert.deepEqual(await unfinishedIn(scratch), []);
  }
});

/** A ledger with a planned job of one frame per shard, whose nodes write parts, and the tables of the job. */
async function stage(
  t: TestContext,
  fates: Fate[],
  { grid = { rows: 1, columns: 1 }, program, fewBins = 0 }: { grid?: Grid; program?: string; fewBins?: number } = {},
) {
  const folder = await mkdtemp(join(memoryFolder, 'halogrid-features-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const scratch = join(folder, '.halogrid');
  await mkdir(scratch);
  const logs = await mkdtemp(join(memoryFolder, 'halogrid-logs-'));
  t.after(() => rm(logs, { recursive: true, force: true }));
  const ledger = await openLogLedger(logs, undefined, { partsOf });
  t.after(() => ledger.close());
  const spec = JobSpec.fromPartial({ pipeline: { operations }, grid, out: pathToFileURL(folder).href });
  const pipelines = partPipelines(spec);
  const shapes = pipelines.map(({ shape }) => shape);
  await ledger.createJob({ jobId: 'job', spec, submittedMs: 0 });

  const sources = fates.map((fate, index) => {
    const error = fate === 'unread' ? { stage: 'read', error: 'It is not there' } : undefined;
    const more = { ...(error && { error }), ...(fate === 'tiled' && { tiles: tiles.length }) };
    const kept = fate === 'kept' ? { kept: 'earlier' } : {};
    return plannedSources([{ index, uri: uriOf(index), name: nameOf(index), ...more, ...kept }]);
  });
  const foundOf = (source: number, isFound: boolean) =>
    foundShard(sources[source]!.block, isFound ? [wholeResult(source, grid)] : [], shapes);
  /** The shards of each source. */
  const shards: number[][] = [];
  const steps = fates.flatMap((fate, source): PlanStep[] => {
    const planned = sources[source]!;
    const first = shards.flat().length;
    const its = worksOf[fate](planned).map((work, i) => ({ shard: first + i, work, costBytes: 1 }));
    shards.push(its.map(({ shard }) => shard));
    return [{ kind: 'sources', sources: planned }, ...its.map((shard): PlanStep => ({ kind: 'shard', shard }))];
  });
  await ledger.addPlan('job', steps, true);
  for (const [source, fate] of fates.entries()) {
    if (fate !== 'kept') continue;
    const [found] = await partsOf(spec)([foundOf(source, true)]);
    const answer = { stageSeconds: {}, inputBytes: 0, results: [], errors: [], found: found! };
    await ledger.commit({ jobId: 'job', shard: shards[source]![0]!, attempt: 0, epoch: 1, ...answer });
  }

  const asked: number[] = [];
  const told: Error[] = [];
  let answer: Awaited<ReturnType<typeof ledger.settled>> | undefined;
  const path = join(folder, 'features.parquet');
  const growing = join(scratch, 'tables-1');
  const pathsIn = (place: string) => tablePaths((file) => join(place, file));
  const openTables = (): TablesFile => {
    const tables = new TablesFile({
      parts: partsPath(spec.out),
      growing,
      pipelines: pipelines.map((each) => ({
        ...each,
        paths: pathsIn(folder),
        unfinished: pathsIn(growing),
        line: 'lbp',
      })),
      settled: async (from, atMost) => {
        asked.push(from);
        return answer ?? ledger.settled('job', from, atMost);
      },
      failed: (error) => told.push(error),
      until: atOnce,
      fewBins,
      ...(program && { thread: new SpareThread(new URL(`data:text/javascript,${encodeURIComponent(program)}`)) }),
    });
    t.after(() => tables.abort());
    return tables;
  };
  const tables = openTables();

  const parts = new Map<number, string>();
  const writePart = async (source: number, isFound: boolean): Promise<FoundInPart> => {
    const writer = await PartWriter.create(partsPath(spec.out), pipelines);
    const found = await writer.add(foundOf(source, isFound));
    await writer.finish();
    parts.set(source, join(partsPath(spec.out), writer.id));
    return found;
  };
  const settle = async (source: number, lie = (_: FoundInPart): Partial<FoundInPart> => ({})): Promise<void> => {
    const fate = fates[source]!;
    const [shard = -1] = shards[source]!;
    const commit = {
      jobId: 'job',
      attempt: 1,
      epoch: 1,
      node: { name: 'node', device: 'cpu' },
      stageSeconds: {},
      inputBytes: 0,
      results: [],
      errors: [],
    };
    if (fate === 'given up') await ledger.quarantineShard('job', shard, failures[fate]!.error, 3);
    else if (fate === 'tiled') {
      for (const [i, result] of tileResults(source, grid).entries()) {
        await ledger.commit({ ...commit, shard: shards[source]![i]!, results: [result] });
      }
    } else if (fate === 'done' || fate === 'broken') {
      const found = await writePart(source, fate === 'done');
      const errors = fate === 'broken' ? [{ source, stage: 'decode', error: 'It is broken' }] : [];
      assert.equal(await ledger.commit({ ...commit, shard, errors, found: { ...found, ...lie(found) } }), 'committed');
    }
    tables.advance();
  };
  const partOf = (source: number): string => parts.get(source)!;
  const answerWith = (settled: typeof answer): void => {
    answer = settled;
  };
  return { tables, openTables, settle, folder, scratch, path, ledger, asked, told, partOf, answer: answerWith };
}

type Works = (sources: PlannedSources) => ShardWork[];
const noWork: Works = () => [];
const wholeWork: Works = (sources) => [{ kind: 'frames', sources }];

/** The work on a source, by its fate. */
const worksOf: Record<Fate, Works> = {
  done: wholeWork,
  broken: wholeWork,
  'given up': wholeWork,
  unread: noWork,
  kept: (sources) => [{ kind: 'kept', sources, earlier: [0, 0, 1] }],
  tiled: (sources) => tiles.map((rect) => ({ kind: 'tile', sources, size, rect })),
};

function wholeResult(source: number, grid: Grid): SourceResult {
  const bins = cellsOfSource(source, grid).flat();
  return { source, size, rect: { x: 0, y: 0, ...size }, counted: 2 * grid.rows * grid.columns, bins };
}

/** The lower tile has one of the two pixels that the cells of the last row count. */
function tileResults(source: number, grid: Grid): SourceResult[] {
  const { rows, columns } = grid;
  const isLast = (cell: number): boolean => cell >= (rows - 1) * columns;
  const lower = Array.from({ length: columns }, (_, column) => oneCount(((rows - 1) * columns + column) % 256));
  const upper = cellsOfSource(source, grid).map((cell, i) => (isLast(i) ? oneCount(source) : cell));
  return [upper, lower].map((cells, i) => {
    const bins = cells.flat();
    const counted = bins.reduce((sum, count) => sum + count, 0);
    return { source, size, rect: tiles[i]!, counted, bins };
  });
}

function oneCount(bin: number): number[] {
  const bins = Array<number>(256).fill(0);
  bins[bin] = 1;
  return bins;
}

/** Two pixels in each cell, in bins that tell source and cell apart. */
function cellsOfSource(source: number, { rows, columns }: Grid): number[][] {
  return Array.from({ length: rows * columns }, (_, cell) => {
    const bins = oneCount(source);
    bins[cell % 256]!++;
    return bins;
  });
}

function expectedRows(fates: Fate[], grid: Grid): Record<string, unknown>[] {
  return fates.flatMap((fate, source) => {
    if (failures[fate]) return [];
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

/** Changes a byte in the middle of a file's rows. */
async function alter(path: string): Promise<void> {
  const file = await open(path, 'r+');
  const byte = new Uint8Array(1);
  await file.read(byte, 0, 1, 200);
  await file.write(
    byte.map((value) => value ^ 1),
    0,
    1,
    200,
  );
  await file.close();
}

/** The tables that grow in the scratch folder. */
const unfinishedIn = (scratch: string): Promise<string[]> =>
  readdir(join(scratch, 'tables-1')).catch((): string[] => []);

const linesOf = async (path: string) =>
  (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const nameOf = (source: number): string => `name-${source}`;

async function metadataOf(path: string) {
  return (await parquetMetadataAsync(await asyncBufferFromFile(path))).key_value_metadata;
}

async function readRows(path: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: await asyncBufferFromFile(path) });
}

const uriOf = (source: number): string => `file:///in/${source}`;
