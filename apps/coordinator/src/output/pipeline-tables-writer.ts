import { rename, rm } from 'node:fs/promises';
import { FeatureFiles } from '@halogrid/results/feature-files';
import type { FileLimits } from '@halogrid/results/features';
import type { FoundFacts } from '@halogrid/results/found-shard';
import { binsOfCell } from '@halogrid/results/histogram-shape';
import { JobDigest } from '@halogrid/results/job-digest';
import { pageLayout } from '@halogrid/results/page-layout';
import { quarantinedDigest } from '@halogrid/results/source-digest';
import { listLine, type SourceFacts } from '@halogrid/results/source-facts';
import { listNames } from '@halogrid/results/source-list';
import { type SourceFailure, SourceTables } from '@halogrid/results/source-tables';
import type { CaptureRule } from '@halogrid/sources/captured';
import type { PipelineTables, TablePaths } from './tables-order.ts';
import type { PartSummary } from './tables-output.ts';

/** Writes the tables of a pipeline, source by source in the order of their numbers. */
export class PipelineTablesWriter {
  /** Undefined where the pipeline has no histogram. */
  readonly features?: FeatureFiles;
  readonly #pipeline: PipelineTables;
  readonly #tables: SourceTables;
  readonly #digest: JobDigest;

  static async create(
    pipeline: PipelineTables,
    rule: CaptureRule,
    limits: (FileLimits & { lines: number }) | undefined,
  ): Promise<PipelineTablesWriter> {
    const { shape, unfinished } = pipeline;
    const tables = await SourceTables.create({ ...unfinished, rule, mostLines: limits?.lines });
    if (shape.bins === 0) return new PipelineTablesWriter(pipeline, tables);
    const layout = pageLayout(shape.grid.rows * shape.grid.columns, binsOfCell(shape), limits);
    return new PipelineTablesWriter(pipeline, tables, await FeatureFiles.create(unfinished.features, layout));
  }

  private constructor(pipeline: PipelineTables, tables: SourceTables, features?: FeatureFiles) {
    this.#pipeline = pipeline;
    this.#tables = tables;
    if (features) this.features = features;
    this.#digest = new JobDigest(pipeline.line);
  }

  /** The next source. What it returns is to be waited for before the next; undefined for nothing. */
  source(facts: SourceFacts, found: FoundFacts): Promise<void> | undefined {
    this.#digest.add(found.digest);
    return this.#tables.add(listLine(facts, found));
  }

  /** The next source, which is quarantined. */
  async setAside(line: Parameters<SourceTables['add']>[0], failure: SourceFailure): Promise<void> {
    this.#digest.add(quarantinedDigest);
    await this.#tables.add(line, failure);
  }

  /** Makes the tables durable and moves them to their place. */
  async finish(sources: number, description: object): Promise<PartSummary> {
    const digest = this.#digest.end();
    await this.features?.finish(sources, { halogrid: JSON.stringify({ ...description, digest }) });
    const summary = await this.#tables.finish();
    const list = summary.file === listNames.rows ? 'rows' : 'sources';
    for (const table of ['features', list, 'errors'] as const) await this.#move(table);
    return { ...summary, digest };
  }

  /** Removes what was written. */
  async abort(): Promise<void> {
    await this.features?.abort();
    await this.#tables.abort();
  }

  /** Moves a table into place, over one that a failed writer may have left. */
  async #move(table: keyof TablePaths): Promise<void> {
    const { paths, unfinished } = this.#pipeline;
    await rm(paths[table], { recursive: true, force: true });
    await rename(unfinished[table], paths[table]).catch((error: NodeJS.ErrnoException) => {
      // A job without histograms, or without errors, has no such table.
      const isMissing = error.code === 'ENOENT' && (table === 'errors' || (table === 'features' && !this.features));
      if (!isMissing) throw error;
    });
  }
}
