import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JobSpec } from '@halogrid/proto';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { type FoundInPart, type PartPipeline, PartWriter } from '@halogrid/results/part-writer';
import { partsFolder } from '@halogrid/results/shard-place';
import { jobGrid, jobParts } from '../job/accepted-job.ts';
import { scratchUri } from '../job/output-paths.ts';
import type { WritePart } from '../ledger/logged-job.ts';

/** The folder of a job's parts: a path. */
export const partsPath = (out: string): string => join(fileURLToPath(scratchUri(out)), partsFolder);

export const partPipelines = (spec: JobSpec): PartPipeline[] =>
  jobParts(spec).map(({ name, pipeline }) => ({ name, shape: histogramShape(pipeline, jobGrid(spec)) }));

/** Writes parts of a job of which no node has what they say: images whose tiles are all in, and results that are kept. */
export function partsOf(spec: JobSpec): WritePart {
  const pipelines = partPipelines(spec);
  return async (found) => {
    const writer = await PartWriter.create(partsPath(spec.out), pipelines, spec.captured);
    const written: FoundInPart[] = [];
    try {
      for (const shard of found) written.push(await writer.add(shard));
    } catch (error) {
      await writer.abort();
      throw error;
    }
    await writer.finish();
    return written;
  };
}
