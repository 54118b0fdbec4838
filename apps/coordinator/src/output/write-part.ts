import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JobSpec } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { PartThread } from '@halogrid/results/part-thread';
import type { PartPipeline } from '@halogrid/results/part-writer';
import { partsFolder } from '@halogrid/results/shard-place';
import { jobGrid, jobParts } from '../job/accepted-job.ts';
import { scratchUri } from '../job/output-paths.ts';
import type { WritePart } from '../ledger/logged-job.ts';

/** The folder of a job's parts: a path. */
export const partsPath = (out: string): string => join(fileURLToPath(scratchUri(out)), partsFolder);

export const partPipelines = (spec: JobSpec): PartPipeline[] =>
  jobParts(spec).map(({ name, pipeline }) => ({ name, shape: histogramShape(pipeline, jobGrid(spec)) }));

const thread = new PartThread();

/**
 * Writes parts of what no node wrote: images whose tiles are all in, and results that are kept. A thread of the
 * process packs and writes; what it is given may be written again after a failure.
 */
export function partsOf(spec: JobSpec): WritePart {
  const { captured } = spec;
  const folder = partsPath(spec.out);
  const task = { folder, pipelines: partPipelines(spec), ...(captured && { captured }) };
  return async (found) => {
    const written = Promise.all(found.map((shard) => thread.add(task, copyOf(shard), 0)));
    // Settles all of them.
    await Promise.all([written, thread.forget(folder)]);
    return written;
  };
}

/** With counts of its own, whose memory changes hands. */
const copyOf = (shard: FoundShard): FoundShard => ({
  ...shard,
  parts: shard.parts.map(({ counted, bins }) => ({ counted, bins: bins.slice() })),
});
