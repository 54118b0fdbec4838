import type { FoundRun, QuarantinedRow } from '@halogrid/ledger';
import { readLogBytes } from '@halogrid/ledger/read-log-bytes';
import { PartError } from '@halogrid/results/part-error';
import { PartReader } from '@halogrid/results/part-reader';
import { RangeFinisher } from '@halogrid/results/range-finisher';
import { RangeOutput } from '@halogrid/results/range-tables';
import { groupsOfList } from '@halogrid/results/source-groups';
import { SourceList } from '@halogrid/results/source-list';
import { CaptureRule } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import type { TablesAnswer, TablesInput, TablesOrder } from './tables-order.ts';

type ReadOrder = Extract<TablesOrder, { kind: 'read' }>;

/** Reads ranges of a job's sources from its parts, checks them, and makes their rows and lines of the tables. */
export class TablesReader {
  readonly #parts: PartReader;
  readonly #outputs: readonly RangeOutput[];
  readonly #finisher: RangeFinisher;
  /** Kept once opened: finding the lines takes 0.2 s for a million. */
  #lists: SourceList[] | undefined;

  constructor({ parts, pipelines, captured }: TablesInput) {
    this.#parts = new PartReader(parts, pipelines);
    const rule = new CaptureRule(captured);
    this.#outputs = pipelines.map((pipeline) => new RangeOutput(pipeline, rule));
    this.#finisher = new RangeFinisher({ reader: this.#parts, pipelines, rule, outputs: this.#outputs });
  }

  /** Reads the next piece of a range. */
  async read({ runs, isRows, isLast, entries }: ReadOrder): Promise<TablesAnswer> {
    for (const output of this.#outputs) output.begin({ isRows, entries });
    for (const run of runs) {
      if (run.kind === 'quarantined') for (const source of run.sources) this.#setAside(source);
      else {
        const lost = await this.#finish(run);
        if (lost) return lost;
      }
    }
    if (isLast) {
      this.#finisher.end();
      for (const output of this.#outputs) output.end();
    }
    return { kind: 'read', tables: this.#outputs.map((output) => output.take()) };
  }

  /** Makes row groups of lists that were written as lines. */
  async list({ lists, from, to }: Extract<TablesOrder, { kind: 'list' }>): Promise<TablesAnswer> {
    this.#lists ??= await Promise.all(lists.map((path) => SourceList.at(path)));
    for (const [i, list] of this.#lists.entries()) this.#outputs[i]!.addRows(await groupsOfList(list, from, to));
    return { kind: 'read', tables: this.#outputs.map((output) => output.take()) };
  }

  async close(): Promise<void> {
    await this.#parts.close();
  }

  #setAside({ uri, video, version, stage, error, attempts }: QuarantinedRow): void {
    const { frame, timestampMs } = video ?? {};
    const line = { uri: redactUri(uri), frame, timestampMs, version, quarantined: true } as const;
    for (const output of this.#outputs) output.setAside(line, { stage, error, attempts });
  }

  async #finish({ planned, found, count, shard }: FoundRun): Promise<TablesAnswer> {
    const { file, offset, length, nth: from } = planned;
    try {
      await this.#finisher.add({ block: readLogBytes(file, offset, length), found, from, count });
      return undefined;
    } catch (error) {
      if (!(error instanceof PartError)) throw error;
      const { message, isFalse } = error;
      return { kind: 'lost', lost: { message, shard, isFalse } };
    }
  }
}
