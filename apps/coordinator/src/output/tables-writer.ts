import { mkdir, rm } from 'node:fs/promises';
import type { RangeTables } from '@halogrid/results/range-tables';
import type { WrittenSources } from '@halogrid/results/source-tables';
import { settleAll } from '@halogrid/threads';
import { PipelineTablesWriter } from './pipeline-tables-writer.ts';
import type { TablesTask } from './tables-order.ts';
import type { PartSummary } from './tables-output.ts';

/** Appends pieces, in order, to the tables of all pipelines of a job. */
export class TablesWriter {
  readonly #tables: readonly PipelineTablesWriter[];

  /** Each method rejects with one sentence if it fails; then `abort` must be called. */
  static async open({
    growing,
    pipelines,
    limits,
  }: Pick<TablesTask, 'growing' | 'pipelines' | 'limits'>): Promise<TablesWriter> {
    await rm(growing, { recursive: true, force: true });
    await mkdir(growing);
    return new TablesWriter(await Promise.all(pipelines.map((each) => PipelineTablesWriter.create(each, limits))));
  }

  private constructor(tables: readonly PipelineTablesWriter[]) {
    this.#tables = tables;
  }

  /** Appends the next sources to each pipeline's tables; resolves with what each has written so far. */
  async append(tables: readonly RangeTables[]): Promise<WrittenSources[]> {
    await settleAll(tables.map((its, i) => this.#tables[i]!.append(its)));
    return this.#tables.map(({ written }) => written);
  }

  /** Makes the tables durable and moves them to their place. */
  async finish(sources: number, descriptions: readonly object[]): Promise<PartSummary[]> {
    return Promise.all(this.#tables.map((tables, i) => tables.finish(sources, descriptions[i]!)));
  }

  /** Removes tables that are not finished. */
  async abort(): Promise<void> {
    await settleAll(this.#tables.map((tables) => tables.abort()));
  }
}
