import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { QuarantinedRow, SettledRun } from '@halogrid/ledger';
import { binsOfSource } from '@halogrid/results/histogram-shape';
import { type FoundInPart, PartWriter } from '@halogrid/results/part-writer';
import { quarantinedDigest } from '@halogrid/results/source-digest';
import { SourceList } from '@halogrid/results/source-list';
import { anyMadeJob, type MadeJob, rowsOfJob, shardsOf } from '@halogrid/results/testing-jobs';
import { readRows, rowsOf } from '@halogrid/results/testing-rows';
import { redactUri } from '@halogrid/sources/redact-uri';
import { memoryFolder, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { type TablesTask, tablePaths } from './tables-order.ts';
import type { PartSummary } from './tables-output.ts';
import { TablesWriter } from './tables-writer.ts';

test('property: tables have the sources of a job as they are, however they are cut into parts, runs, orders and files', async (t) => {
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
      ends,
      fc.option(limits, { nil: undefined }),
      async (job, runEnds, orderEnds, few) => {
        await rm(folder, { recursive: true });
        await mkdir(folder);
        const runs = await runsOfJob(folder, job, [...runEnds, ...orderEnds]);
        const summaries = await write(folder, job, ordersOf(runs, orderEnds), few);
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
        assert.deepEqual(await readdir(join(folder, 'scratch')), job.firsts.length > 0 ? ['log', 'parts'] : ['log']);
      },
    ),
    { numRuns: repeated(15, 100) },
  );
});

/** Writes the shards of a job into its parts, and its blocks into a log. A run ends before the sources of those numbers as well. */
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

/** The runs in several orders, which end before some of these numbers. */
function ordersOf(runs: readonly SettledRun[], ends: readonly number[]): SettledRun[][] {
  const orders: SettledRun[][] = [[]];
  for (const run of runs) {
    if (ends.includes(run.kind === 'found' ? run.first : run.sources[0]!.index)) orders.push([]);
    orders.at(-1)!.push(run);
  }
  return orders;
}

async function write(
  folder: string,
  job: MadeJob,
  orders: readonly SettledRun[][],
  limits: TablesTask['limits'],
): Promise<PartSummary[]> {
  for (const { name } of job.pipelines) await mkdir(join(folder, name));
  const writer = new TablesWriter();
  await writer.obey({
    ...{ kind: 'open', parts: join(folder, 'scratch', 'parts'), captured: job.rule },
    pipelines: job.pipelines.map(({ name, shape }) => ({
      ...{ name, shape, line: `line of ${name}` },
      paths: tablePaths((file) => join(folder, name, file)),
      unfinished: tablePaths((file) => join(folder, 'scratch', `${name}-${file}`)),
    })),
    ...(limits && { limits }),
  });
  for (const runs of orders) assert.equal(await writer.obey({ kind: 'write', runs }), undefined);
  const descriptions = job.pipelines.map(() => ({}));
  const answer = await writer.obey({ kind: 'finish', sources: job.sources.length, descriptions });
  assert.ok(answer?.kind === 'finished');
  return answer.summaries;
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
  ...{ uri: redactUri(uri), frame: video?.frame ?? 0, stage, error, attempts },
});

/** The lines of a file; none where it is not there. */
async function linesOf(path: string): Promise<object[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
}
