import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { binsOfCell } from '../counts/histogram-shape.ts';
import { FeatureFiles } from '../features/feature-files.ts';
import { FeatureWriter } from '../features/feature-writer.ts';
import { pageLayout } from '../features/page-layout.ts';
import { listHead } from '../sources/list-head.ts';
import { SourceRows } from '../sources/source-rows.ts';
import { anyMadeJob, type MadeJob, rowsOfJob, shardsOf } from '../testing/found-jobs.ts';
import { temporaryFolder } from '../testing/maps.ts';
import { PartReader } from './part-reader.ts';
import { type PartPipeline, PartWriter } from './part-writer.ts';
import { RangeFinisher, type SettledShard } from './range-finisher.ts';
import { listLine } from './source-facts.ts';

test('outputs that are finished from parts are byte for byte those that are written at once', async (t) => {
  const folder = await temporaryFolder(t);
  await fc.assert(
    fc.asyncProperty(anyMadeJob(), async (job) => {
      const shards = await writeParts(folder, job);
      await finish(folder, job, shards);
      for (const pipeline of job.pipelines) {
        const { features, list } = await writeAtOnce(folder, job, pipeline);
        const pathOf = (file: string) => join(folder, `${pipeline.name}-${file}`);
        assert.ok((await readFile(pathOf('sources.parquet'))).equals(list));
        if (features) assert.ok((await readFile(pathOf('features.parquet'))).equals(features));
      }
      await rm(join(folder, 'parts'), { recursive: true, force: true });
    }),
    { numRuns: repeated(20, 120) },
  );
});

/** Writes the shards of a job into its parts. Those without a source that was found are quarantined without one. */
async function writeParts(folder: string, job: MadeJob): Promise<SettledShard[]> {
  const shards = shardsOf(job);
  const settled: SettledShard[] = shards.map(({ block }) => ({ block }));
  for (const part of new Set(job.partOf.slice(0, shards.length))) {
    const writer = await PartWriter.create(join(folder, 'parts'), job.pipelines, job.rule);
    for (const [i, shard] of shards.entries()) {
      if (job.partOf[i] !== part || (shard.found.length === 0 && i % 2 === 0)) continue;
      settled[i]!.found = await writer.add(shard);
    }
    await writer.finish();
  }
  return settled;
}

async function finish(folder: string, job: MadeJob, shards: readonly SettledShard[]): Promise<void> {
  const reader = new PartReader(join(folder, 'parts'), job.pipelines);
  const outputs = await Promise.all(
    job.pipelines.map(async ({ name, shape }) => {
      const { rows, columns } = shape.grid;
      const layout = pageLayout(rows * columns, binsOfCell(shape));
      const list = await SourceRows.create(join(folder, `${name}-sources.parquet`), listHead);
      const features = shape.bins
        ? await FeatureFiles.create(join(folder, `${name}-features.parquet`), layout)
        : undefined;
      return { list, features };
    }),
  );
  const finisher = new RangeFinisher({
    ...{ reader, pipelines: job.pipelines, captured: job.rule },
    outputs: outputs.map(({ features, list }) => ({
      features,
      source: (facts, found) => list.add(listLine(facts, found)),
    })),
  });
  for (const shard of shards) await finisher.add(shard);
  await finisher.end();
  await reader.close();
  for (const { features, list } of outputs) {
    await features?.finish(job.sources.length, {});
    await list.finish();
  }
}

async function writeAtOnce(folder: string, job: MadeJob, pipeline: PartPipeline) {
  const { lines, features } = rowsOfJob(job, pipeline);
  const listPath = join(folder, 'once.sources.parquet');
  const list = await SourceRows.create(listPath, listHead);
  for (const line of lines) await list.add(line);
  await list.finish();
  if (pipeline.shape.bins === 0) return { list: await readFile(listPath) };
  const path = join(folder, 'once.features.parquet');
  const writer = await FeatureWriter.create(path, { grid: pipeline.shape.grid, bins: binsOfCell(pipeline.shape) });
  for (const { facts, cells } of features) await writer.add(facts, cells);
  await writer.finish(job.sources.length);
  return { features: await readFile(path), list: await readFile(listPath) };
}
