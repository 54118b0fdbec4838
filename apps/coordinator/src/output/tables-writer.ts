import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { unpackFound } from '@halogrid/results/found-list';
import type { RangeTables } from '@halogrid/results/range-tables';
import { sourceFacts } from '@halogrid/results/source-facts';
import { CaptureRule } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import { SourceBlock } from '@halogrid/sources/source-block';
import { settleAll } from '@halogrid/threads';
import type { QuarantinedRow, SettledRun } from '../ledger/ledger.ts';
import { readLogBytes } from '../log/read-bytes.ts';
import { PipelineTablesWriter } from './pipeline-tables-writer.ts';
import type { PipelineTables, TablesTask } from './tables-order.ts';
import type { PartSummary } from './tables-output.ts';

/** Writes the tables of all pipelines of a job of what was read, piece after piece in order. It waits for the disk. */
export class TablesWriter {
  readonly #tables: readonly PipelineTablesWriter[];

  /** Each method rejects with one sentence where it fails; then the tables are to be aborted. */
  static async open({ pipelines, captured, limits }: TablesTask): Promise<TablesWriter> {
    for (const pipeline of pipelines) await removeLeftOvers(pipeline);
    const rule = new CaptureRule(captured);
    return new TablesWriter(
      await Promise.all(pipelines.map((pipeline) => PipelineTablesWriter.create(pipeline, rule, limits))),
    );
  }

  private constructor(tables: readonly PipelineTablesWriter[]) {
    this.#tables = tables;
  }

  /** Writes what was read of runs, one a pipeline. */
  async write(runs: readonly SettledRun[], read: readonly RangeTables[]): Promise<void> {
    const found = read.map((tables) => unpackFound(tables.found));
    for (const run of runs) {
      if (run.kind === 'quarantined') for (const source of run.sources) await this.#setAside(source);
      else {
        const { file, offset, length, nth: from } = run.planned;
        const block = new SourceBlock(readLogBytes(file, offset, length));
        for (let nth = from; nth < from + run.count; nth++) {
          const facts = sourceFacts(block, nth);
          for (const [i, tables] of this.#tables.entries()) {
            const added = tables.source(facts, found[i]!.next().value!);
            if (added) await added;
          }
        }
      }
    }
    for (const [i, { groups }] of read.entries()) {
      for (const group of groups) await this.#tables[i]!.features!.append(group);
    }
  }

  /** Makes the tables durable and moves them to their place. */
  async finish(sources: number, descriptions: readonly object[]): Promise<PartSummary[]> {
    return Promise.all(this.#tables.map((tables, i) => tables.finish(sources, descriptions[i]!)));
  }

  /** Removes what was written of tables that are not finished. */
  async abort(): Promise<void> {
    await settleAll(this.#tables.map((tables) => tables.abort()));
  }

  async #setAside({ uri, video, version, stage, error, attempts }: QuarantinedRow): Promise<void> {
    const { frame, timestampMs } = video ?? {};
    const line = { uri: redactUri(uri), version, frame, timestampMs, quarantined: true } as const;
    for (const tables of this.#tables) await tables.setAside(line, { stage, error, attempts });
  }
}

/** Removes unfinished tables of a writer that failed, because they take room, and a folder takes the place of none. */
async function removeLeftOvers({ unfinished }: PipelineTables): Promise<void> {
  for (const path of Object.values(unfinished) as string[]) {
    const folder = dirname(path);
    const names = (await readdir(folder).catch((): string[] => [])).filter((name) =>
      `${name}.`.startsWith(`${basename(path)}.`),
    );
    for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
  }
}
