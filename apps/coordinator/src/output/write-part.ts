import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jobGrid, jobParts } from '@halogrid/jobs/accepted-job';
import { scratchUri } from '@halogrid/jobs/output-paths';
import type { WritePart } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { type PartTask, PartThread } from '@halogrid/results/part-thread';
import type { FoundInPart, PartPipeline } from '@halogrid/results/part-writer';
import { partsFolder, pipelinePaths } from '@halogrid/results/shard-place';
import type { JobObjects } from './bucket/job-objects.ts';

/** The folder of a job's parts: a path. */
export const partsPath = (out: string): string => join(fileURLToPath(scratchUri(out)), partsFolder);

export const partPipelines = (spec: JobSpec): PartPipeline[] =>
  jobParts(spec).map(({ name, pipeline }) => ({ name, shape: histogramShape(pipeline, jobGrid(spec)) }));

/** What a thread that writes parts needs to know about the job. */
export function partTask(spec: JobSpec): PartTask {
  const { captured } = spec;
  return { folder: partsPath(spec.out), pipelines: partPipelines(spec), captured };
}

const thread = new PartThread();

/**
 * Writes parts of images whose tiles are all in. A thread packs and writes them. After a failure the same images may be
 * written again. No shard can make such a part again, so if it is lost later, the job fails.
 */
export const partsOf = (spec: JobSpec): WritePart => keptPartsOf(spec, undefined);

/** As `partsOf`; parts are kept for other coordinators before they count. */
export function keptPartsOf(spec: JobSpec, objects: JobObjects | undefined): WritePart {
  const task = partTask(spec);
  return async (found) => {
    const written = Promise.all(found.map((shard) => thread.add(task, copyOf(shard))));
    // `forget` ends the open part, which settles all of `written`.
    await Promise.all([written, thread.forget(task.folder)]);
    await keepParts(objects, task, await written);
    return written;
  };
}

/** Keeps parts of the job, which are in its scratch folder, for other coordinators. */
export async function keepParts(
  objects: Pick<JobObjects, 'keep'> | undefined,
  { folder, pipelines }: Pick<PartTask, 'folder' | 'pipelines'>,
  found: readonly Pick<FoundInPart, 'part'>[],
): Promise<void> {
  if (!objects) return;
  const names = pipelines.map(({ name }) => name);
  for (const part of new Set(found.map(({ part }) => part))) {
    const files = names.flatMap((_, nth) => {
      const { sources, features } = pipelinePaths(part, names, nth);
      return pipelines[nth]!.shape.bins > 0 ? [sources, features] : [sources];
    });
    await Promise.all(files.map((file) => objects.keep(`${partsFolder}/${file}`, join(folder, file))));
  }
}

/** A copy with its own counts, whose memory is transferred. */
const copyOf = (shard: FoundShard): FoundShard => ({
  ...shard,
  parts: shard.parts.map((its) => its && { ...its, bins: its.bins.slice() }),
});
