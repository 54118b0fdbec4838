import { type AcceptedJob, jobGrid, jobParts } from '@halogrid/jobs/accepted-job';
import { outputPath, scratchUri } from '@halogrid/jobs/output-paths';
import type { KeptShard } from '@halogrid/jobs/shard';
import { countsOfSource } from '@halogrid/results/earlier-runs';
import { type HistogramShape, histogramShape } from '@halogrid/results/histogram-shape';
import { type PartTask, PartThread } from '@halogrid/results/part-thread';
import type { FoundInPart } from '@halogrid/results/part-writer';
import { JobObjects } from '../bucket/job-objects.ts';
import { keepParts, partTask } from '../write-part.ts';

/** The most counts that are read together: as float64 they take 64 MiB. */
const mostCounts = 2 ** 23;

/** A thread of its own, so that other parts do not wait for it. */
const thread = new PartThread();

/** Has a thread read kept results from the earlier output, check them, and write them to parts of the job. */
export class KeptReader {
  readonly #task: PartTask;
  readonly #objects: JobObjects | undefined;
  readonly #earlier: { folder: string; shape: HistogramShape }[];

  constructor({ spec, objects }: Pick<AcceptedJob, 'spec' | 'objects'>) {
    this.#objects = JobObjects.of({ objects, scratch: scratchUri(spec.out) });
    const grid = jobGrid(spec);
    this.#task = partTask(spec);
    this.#earlier = jobParts(spec).map(({ spec, pipeline }) => ({
      folder: outputPath(spec.out),
      shape: histogramShape(pipeline, grid),
    }));
  }

  /**
   * Resolves with the results of the first of these shards, at least one, once their part is durable. Rejects with one
   * sentence if the earlier output has changed.
   */
  async keep(shards: readonly KeptShard[]): Promise<FoundInPart[]> {
    const each = countsOfSource(this.#earlier);
    let counts = 0;
    const end = shards.findIndex(({ work }, i) => {
      counts += work.sources.count * each;
      return counts > mostCounts && i > 0;
    });
    const some = shards.slice(0, end < 0 ? undefined : end).map(({ work: { sources, earlier } }) => {
      return { block: sources.block, count: sources.count, earlier };
    });
    const found = await thread.keep(this.#task, this.#earlier, some);
    await keepParts(this.#objects, this.#task, found);
    return found;
  }

  /** The job keeps nothing more. */
  async end(): Promise<void> {
    await thread.forget(this.#task.folder);
  }
}
