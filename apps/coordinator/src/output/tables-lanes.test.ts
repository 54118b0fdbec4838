import assert from 'node:assert/strict';
import { createHash, hash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { QuarantinedRow, SettledRun } from '@halogrid/ledger';
import { binsOfSource } from '@halogrid/results/histogram-shape';
import { listHead } from '@halogrid/results/list-head';
import { type FoundInPart, PartWriter } from '@halogrid/results/part-writer';
import { quarantinedDigest } from '@halogrid/results/source-digest';
import { SourceList } from '@halogrid/results/source-list';
import { SourceRows } from '@halogrid/results/source-rows';
import { anyMadeJob, type MadeJob, rowsOfJob, shardsOf } from '@halogrid/results/testing-jobs';
import { readRows, rowsOf } from '@halogrid/results/testing-rows';
import { redactUri } from '@halogrid/sources/redact-uri';
import { memoryFolder, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { RangeCutter } from './cut-ranges.ts';
import { TablesLanes } from './tables-lanes.ts';
import { type TablesTask, tablePaths } from './tables-order.ts';
import { TablesOrders } from './tables-orders.ts';
import type { PartSummary } from './tables-output.ts';

test('property: tables have exactly the sources of a job, however they are cut into parts, runs, pieces and files', async (t) => {
  const folder = await mkdtemp(join(memoryFolder, 'halogrid-tables-'));
  t.after(() => rm(folder, { recursive: true }));
  const limits = fc.record({
    wholeCounts: fc.constantFrom(1, 2 ** 17),
    partCounts: fc.constantFrom(1, 2 ** 18),
    lines: fc.constantFrom(1, 20),
  });
  const ends = fc.array(fc.nat(40), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      anyMadeJob(40),
      ends,
      fc.record({ lanes: fc.integer({ min: 1, max: 3 }), counts: fc.constantFrom(1, 2 ** 10, 2 ** 20) }),
      fc.option(limits, { nil: undefined }),
      async (job, ends, cut, few) => {
        await rm(folder, { recursive: true });
        await mkdir(folder);
        const runs = await runsOfJob(folder, job, ends);
        const summaries = await write(folder, job, runs, { ...cut, ...(few && { limits: few }) });
        for (const [i, pipeline] of job.pipelines.entries()) {
          const { lines, features } = rowsOfJob(job, pipeline);
          const its = join(folder, pipeline.name);
          const isMuch = few !== undefined && lines.length > few.lines;
          assert.equal(summaries[i]!.file, isMuch ? 'sources.parquet' : 'sources.jsonl');
          assert.deepEqual(await Array.fromAsync((await SourceList.open(its))!.lines()), lines);
          assert.equal(summaries[i]!.digest, digestOf(pipeline.name, lines));
          const bad = job.sources.filter(({ size }) => !size).map(({ planned }) => errorOf(quarantined(planned)));
          assert.deepEqual(await linesOf(join(its, 'errors.jsonl')), bad);
          const rows = pipeline.shape.bins > 0 && (await readRows(join(its, 'features.parquet')));
          if (!rows) assert.ok(!(await readdir(its)).includes('features.parquet'));
          else {
            assert.deepEqual(rows, rowsOf(features, pipeline.shape.grid.columns));
            const most = few ? Math.max(1, Math.floor(few.wholeCounts / binsOfSource(pipeline.shape))) : 2 ** 20;
            const isFolder = (await stat(join(its, 'features.parquet'))).isDirectory();
            assert.equal(isFolder, lines.length > most);
          }
        }
        assert.deepEqual(await readdir(join(folder, 'scratch', 'tables')), []);
      },
    ),
    { numRuns: repeated(15, 100) },
  );
});

test('tables have the same bytes however many lanes read ranges in parallel', async (t) => {
  const folder = await mkdtemp(join(memoryFolder, 'halogrid-tables-'));
  t.after(() => rm(folder, { recursive: true }));
  const shapeOf = (bins: number) => ({ grid: { rows: 1, columns: 1 }, channels: 1, bins });
  // Row groups of the features have 4096 and 512 sources, row groups of the list 8192.
  const pipelines = [
    { name: 'few', shape: shapeOf(64) },
    { name: 'many', shape: shapeOf(512) },
  ];
  const job: MadeJob = {
    pipelines,
    rule: { from: 'mtime', zone: '' },
    sources: Array.from({ length: 9000 }, (_, index) => ({
      planned: { index, uri: `file:///in/${index}.png`, name: `${index}`, sizeBytes: 9 },
      ...(index % 1000 === 0 && { size: { width: 40, height: 40 } }),
      ...(index % 3000 < 300 && { size: { width: 30, height: index === 6100 ? 70 : 20 } }),
    })),
    firsts: [0, 100, 3000, 4097, 4098, 8500],
    partOf: [0, 0, 1, 0, 1, 1],
    seed: 1,
    largest: 300,
  };
  const runs = await runsOfJob(folder, job, []);
  const limits = { wholeCounts: 2 ** 31, partCounts: 2 ** 27, lines: 5000 };
  const written = new Map<string, Set<string>>();
  for (const cut of [{ lanes: 1 }, { lanes: 3 }, { lanes: 3, counts: 1 }]) {
    for (const few of [{}, { limits }]) {
      await write(folder, job, runs, { ...cut, ...few });
      for (const { name } of pipelines) {
        const its = join(folder, name);
        // The list of rows equals the lines, written one by one.
        if (!('limits' in few)) await rowsOfLines(its);
        for (const file of await readdir(its)) {
          const digest = hash('sha256', await readFile(join(its, file)));
          written.set(`${name} ${file}`, (written.get(`${name} ${file}`) ?? new Set()).add(digest));
        }
        await rm(its, { recursive: true });
      }
    }
  }
  const files = ['errors.jsonl', 'features.parquet', 'sources.jsonl', 'sources.parquet'];
  const expected = pipelines.flatMap(({ name }) => files.map((file) => `${name} ${file} 1`));
  assert.deepEqual(Array.from(written, ([file, digests]) => `${file} ${digests.size}`).sort(), expected);
});

/** Writes the list of rows from the list of lines in a folder. */
async function rowsOfLines(folder: string): Promise<void> {
  const lines = (await SourceList.open(folder))!.lines();
  const rows = await SourceRows.create(join(folder, 'sources.parquet'), listHead);
  for await (const line of lines) await rows.add(line);
  await rows.finish();
}

/** Writes the shards of a job into its parts, and its blocks into a log. Runs also end before the sources in `ends`. */
async function runsOfJob(folder: string, job: MadeJob, ends: readonly number[]): Promise<SettledRun[]> {
  await mkdir(join(folder, 'scratch'));
  const shards = shardsOf(job);
  const found: FoundInPart[] = [];
  for (const part of new Set(job.partOf.slice(0, shards.length))) {
    const writer = await PartWriter.create(join(folder, 'scratch', 'parts'), job.pipelines, job.rule);
    for (const [i, shard] of shards.entries()) if (job.partOf[i] === part) found[i] = await writer.add(shard);
    await writer.finish();
  }
  const file = join(folder, 'scratch', 'log');
  await writeFile(
    file,
    shards.map(({ block }) => block),
  );
  let offset = 0;
  return shards.flatMap(({ block: { length } }, shard): SettledRun[] => {
    const first = job.firsts[shard]!;
    const block = { file, offset, length };
    offset += length;
    const runs: SettledRun[] = [];
    for (const [nth, { planned, size }] of job.sources.slice(first, job.firsts[shard + 1]).entries()) {
      const last = ends.includes(first + nth) ? undefined : runs.at(-1);
      if (!size) {
        if (last?.kind === 'quarantined') last.sources.push(quarantined(planned));
        else runs.push({ kind: 'quarantined', sources: [quarantined(planned)] });
      } else if (last?.kind === 'found') last.count++;
      else {
        const run = { first: first + nth, count: 1, planned: { ...block, nth }, found: found[shard]!, shard };
        runs.push({ kind: 'found', ...run });
      }
    }
    return runs;
  });
}

/** Cuts runs into ranges for lanes. Each lane is slower than the lanes before it. */
async function write(
  folder: string,
  job: MadeJob,
  runs: readonly SettledRun[],
  { limits, lanes: most, counts }: { limits?: TablesTask['limits']; lanes: number; counts?: number },
): Promise<PartSummary[]> {
  for (const { name } of job.pipelines) await mkdir(join(folder, name));
  const growing = join(folder, 'scratch', 'tables');
  let started = 0;
  const lanes = new TablesLanes({
    task: {
      parts: join(folder, 'scratch', 'parts'),
      captured: job.rule,
      growing,
      pipelines: job.pipelines.map(({ name, shape }) => ({
        name,
        shape,
        line: `line of ${name}`,
        paths: tablePaths((file) => join(folder, name, file)),
        unfinished: tablePaths((file) => join(growing, `${name}-${file}`)),
      })),
      ...(limits && { limits }),
    },
    start: () => {
      const orders = new TablesOrders();
      const turns = 20 * started++;
      return async (order) => {
        for (let i = 0; i < turns; i++) await setImmediate();
        return orders.obey(structuredClone(order));
      };
    },
    most,
    failed: () => {},
  });
  const shapes = job.pipelines.map(({ shape }) => shape);
  const cutter = new RangeCutter(shapes, { counts, lines: limits?.lines });
  await lanes.open();
  for (const run of runs) for (const piece of cutter.add(run)) await lanes.add(piece);
  for (const piece of cutter.end()) await lanes.add(piece);
  const descriptions = job.pipelines.map(() => ({}));
  return lanes.finish(job.sources.length, descriptions);
}

/** As docs/outputs.md states it. */
function digestOf(name: string, lines: ReturnType<typeof rowsOfJob>['lines']): string {
  const sha = createHash('sha256').update(`halogrid digest 1\nline of ${name}\n`);
  for (const line of lines) sha.update(line.quarantined ? quarantinedDigest : Buffer.from(line.digest, 'hex'));
  return sha.digest('hex');
}

function quarantined({ index, uri, video, version }: MadeJob['sources'][number]['planned']): QuarantinedRow {
  const more = { ...(video && { video }), ...(version !== undefined && { version }) };
  return { index, uri, ...more, stage: 'decode', error: `It is bad, ${index}`, attempts: index % 3 };
}

const errorOf = ({ uri, video, stage, error, attempts }: QuarantinedRow): object => ({
  uri: redactUri(uri),
  frame: video?.frame ?? 0,
  stage,
  error,
  attempts,
});

/** The lines of a file; empty if it is missing. */
async function linesOf(path: string): Promise<object[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
}
