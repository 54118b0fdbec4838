import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jobGrid, jobParts } from '@halogrid/jobs/accepted-job';
import { scratchUri } from '@halogrid/jobs/output-paths';
import type { WritePart } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { type PartTask, PartThread } from '@halogrid/results/part-thread';
import type { PartPipeline } from '@halogrid/results/part-writer';
import { partsFolder } from '@halogrid/results/shard-place';

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
export function partsOf(spec: JobSpec): WritePart {
  const task = partTask(spec);
  return async (found) => {
    const written = Promise.all(found.map((shard) => thread.add(task, copyOf(shard))));
    // `forget` ends the open part, which settles all of `written`.
    await Promise.all([written, thread.forget(task.folder)]);
    return written;
  };
}

/** A copy with its own counts, whose memory is transferred. */
const copyOf = (shard: FoundShard): FoundShard => ({
  ...shard,
  parts: shard.parts.map((its) => its && { ...its, bins: its.bins.slice() }),
});
