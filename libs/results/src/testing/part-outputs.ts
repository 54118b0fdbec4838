import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CaptureRule } from '@halogrid/sources/captured';
import { binsOfCell } from '../counts/histogram-shape.ts';
import { FeatureFiles } from '../features/feature-files.ts';
import { FeatureWriter } from '../features/feature-writer.ts';
import { pageLayout } from '../features/page-layout.ts';
import { PartReader } from '../parts/part-reader.ts';
import { type PartPipeline, PartWriter } from '../parts/part-writer.ts';
import { RangeFinisher, type SettledShard } from '../parts/range-finisher.ts';
import { RangeOutput, type RangeTables } from '../parts/range-tables.ts';
import { listHead } from '../sources/list-head.ts';
import { SourceRows } from '../sources/source-rows.ts';
import { type MadeJob, rowsOfJob, shardsOf } from './found-jobs.ts';

/** The tables of a pipeline; features.parquet is absent if the pipeline has no histogram. */
export interface Tables {
  list: Buffer;
  features?: Buffer;
}

/** Writes the shards of a job into its parts. Every second shard with only quarantined sources is in no part. */
export async function writeParts(folder: string, job: MadeJob): Promise<SettledShard[]> {
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

/** The tables of each pipeline, finished from parts. `add` adds a shard to the finisher. */
export async function finishParts(
  folder: string,
  job: MadeJob,
  shards: readonly SettledShard[],
  add = (finisher: RangeFinisher, shard: SettledShard): Promise<void> => finisher.add(shard),
): Promise<Tables[]> {
  const reader = new PartReader(join(folder, 'parts'), job.pipelines);
  const rule = new CaptureRule(job.rule);
  const outputs = job.pipelines.map((pipeline) => new RangeOutput(pipeline, rule));
  for (const output of outputs) output.begin({ isRows: true, entries: 0 });
  const finisher = new RangeFinisher({ reader, pipelines: job.pipelines, rule, outputs });
  try {
    for (const shard of shards) await add(finisher, shard);
    finisher.end();
    for (const output of outputs) output.end();
  } finally {
    await reader.close();
  }
  for (const [i, pipeline] of job.pipelines.entries()) await writeTables(folder, pipeline, outputs[i]!.take());
  return Promise.all(
    job.pipelines.map(async ({ name, shape }) => ({
      list: await readFile(join(folder, `${name}-sources.parquet`)),
      features: shape.bins > 0 ? await readFile(join(folder, `${name}-features.parquet`)) : undefined,
    })),
  );
}

async function writeTables(
  folder: string,
  { name, shape }: PartPipeline,
  { sources, groups }: RangeTables,
): Promise<void> {
  const list = await SourceRows.create(join(folder, `${name}-sources.parquet`), listHead);
  for (const group of sources.groups) await list.append(group);
  await list.finish();
  if (shape.bins === 0) return;
  const layout = pageLayout(shape.grid.rows * shape.grid.columns, binsOfCell(shape));
  const features = await FeatureFiles.create(join(folder, `${name}-features.parquet`), layout);
  for (const group of groups) await features.append(group);
  await features.finish(sources.count, {});
}

/** The tables of a pipeline, written without parts. */
export async function writeAtOnce(folder: string, job: MadeJob, pipeline: PartPipeline): Promise<Tables> {
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
