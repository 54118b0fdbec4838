import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FoundRun, QuarantinedRow, SettledRun } from '@halogrid/ledger';
import { readLogBytes } from '@halogrid/ledger/read-log-bytes';
import { PartError } from '@halogrid/results/part-error';
import { PartReader } from '@halogrid/results/part-reader';
import { RangeFinisher } from '@halogrid/results/range-finisher';
import { CaptureRule } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import { settleAll } from '@halogrid/threads';
import { PipelineTablesWriter } from './pipeline-tables-writer.ts';
import type { PipelineTables, TablesAnswer, TablesOrder, TablesTask } from './tables-order.ts';

/**
 * Writes the tables of all pipelines of a job from its parts, one order after another. It waits for the disk: for more
 * than a few sources, on a thread that has nothing else to do.
 */
export class TablesWriter {
  #tables: PipelineTablesWriter[] = [];
  #reader: PartReader | undefined;
  #finisher: RangeFinisher | undefined;

  /** Rejects with one sentence where it fails; then the tables are to be aborted. */
  async obey(order: TablesOrder): Promise<TablesAnswer> {
    switch (order.kind) {
      case 'open':
        return this.#open(order);
      case 'write':
        for (const run of order.runs) {
          const lost = await this.#write(run);
          if (lost) return lost;
        }
        return undefined;
      case 'finish': {
        await this.#finisher!.end();
        await this.#reader!.close();
        const { sources, descriptions } = order;
        const summaries = this.#tables.map((tables, i) => tables.finish(sources, descriptions[i]!));
        return { kind: 'finished', summaries: await Promise.all(summaries) };
      }
    }
  }

  /** Removes what was written of tables that are not finished. */
  async abort(): Promise<void> {
    await this.#reader?.close();
    await settleAll(this.#tables.map((tables) => tables.abort()));
  }

  async #open({ parts, pipelines, captured, limits }: TablesTask): Promise<undefined> {
    for (const pipeline of pipelines) await removeLeftOvers(pipeline);
    const rule = new CaptureRule(captured);
    this.#tables = await Promise.all(pipelines.map((pipeline) => PipelineTablesWriter.create(pipeline, rule, limits)));
    this.#reader = new PartReader(parts, pipelines);
    this.#finisher = new RangeFinisher({
      ...{ reader: this.#reader, pipelines, outputs: this.#tables },
      ...(captured && { captured }),
    });
    return undefined;
  }

  async #write(run: SettledRun): Promise<TablesAnswer> {
    if (run.kind === 'found') return this.#finish(run);
    for (const source of run.sources) await this.#setAside(source);
    return undefined;
  }

  async #finish({ planned, found, count, shard }: FoundRun): Promise<TablesAnswer> {
    const { file, offset, length, nth: from } = planned;
    try {
      await this.#finisher!.add({ block: readLogBytes(file, offset, length), found, from, count });
      return undefined;
    } catch (error) {
      if (!(error instanceof PartError)) throw error;
      const { message, isFalse } = error;
      return { kind: 'lost', lost: { message, shard, isFalse } };
    }
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
