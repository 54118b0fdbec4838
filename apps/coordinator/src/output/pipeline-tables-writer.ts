import { rename, rm } from 'node:fs/promises';
import { FeatureFiles } from '@halogrid/results/feature-files';
import { featureLayout } from '@halogrid/results/feature-layout';
import { JobDigest } from '@halogrid/results/job-digest';
import type { RangeTables } from '@halogrid/results/range-tables';
import { listNames } from '@halogrid/results/source-list';
import { SourceTables, type WrittenSources } from '@halogrid/results/source-tables';
import type { PipelineTables, TablePaths, TablesTask } from './tables-order.ts';
import type { PartSummary } from './tables-output.ts';

/** Writes the tables of a pipeline, piece by piece in the order of source numbers. */
export class PipelineTablesWriter {
  readonly #pipeline: PipelineTables;
  readonly #sources: SourceTables;
  /** Undefined if the pipeline has no histogram. */
  readonly #features: FeatureFiles | undefined;
  readonly #digest: JobDigest;

  static async create(pipeline: PipelineTables, limits: TablesTask['limits']): Promise<PipelineTablesWriter> {
    const { shape, unfinished } = pipeline;
    const sources = await SourceTables.create(unfinished);
    if (shape.bins === 0) return new PipelineTablesWriter(pipeline, sources);
    const features = await FeatureFiles.create(unfinished.features, featureLayout(shape, limits));
    return new PipelineTablesWriter(pipeline, sources, features);
  }

  private constructor(pipeline: PipelineTables, sources: SourceTables, features?: FeatureFiles) {
    this.#pipeline = pipeline;
    this.#sources = sources;
    this.#features = features;
    this.#digest = new JobDigest(pipeline.line);
  }

  get written(): WrittenSources {
    return this.#sources.written;
  }

  /** Appends the next sources. */
  async append({ digests, sources, groups }: RangeTables): Promise<void> {
    this.#digest.add(digests);
    await this.#sources.append(sources);
    for (const group of groups) await this.#features!.append(group);
  }

  /** Makes the tables durable and moves them to their place. */
  async finish(sources: number, description: object): Promise<PartSummary> {
    const digest = this.#digest.end();
    await this.#features?.finish(sources, { halogrid: JSON.stringify({ ...description, digest }) });
    const summary = await this.#sources.finish();
    const list = summary.file === listNames.rows ? 'rows' : 'sources';
    for (const table of ['features', list, 'errors'] as const) await this.#move(table);
    return { ...summary, digest };
  }

  /** Removes the unfinished tables. */
  async abort(): Promise<void> {
    await this.#features?.abort();
    await this.#sources.abort();
  }

  /** Moves a table into place, and replaces a table that a failed writer left there. */
  async #move(table: keyof TablePaths): Promise<void> {
    const { paths, unfinished } = this.#pipeline;
    await rm(paths[table], { recursive: true, force: true });
    await rename(unfinished[table], paths[table]).catch((error: NodeJS.ErrnoException) => {
      // A job without histograms, or without errors, has no such table.
      const isMissing = error.code === 'ENOENT' && (table === 'errors' || (table === 'features' && !this.#features));
      if (!isMissing) throw error;
    });
  }
}
