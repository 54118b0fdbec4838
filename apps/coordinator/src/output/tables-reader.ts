import { PartError } from '@halogrid/results/part-error';
import { PartReader } from '@halogrid/results/part-reader';
import { RangeFinisher } from '@halogrid/results/range-finisher';
import { RangeOutput } from '@halogrid/results/range-tables';
import type { FoundRun } from '../ledger/ledger.ts';
import { readLogBytes } from '../log/read-bytes.ts';
import type { RangePiece } from './cut-ranges.ts';
import type { TablesAnswer, TablesInput } from './tables-order.ts';

/** Reads ranges of a job's sources from its parts, checks and encodes them. It waits for the disk. */
export class TablesReader {
  readonly #parts: PartReader;
  readonly #outputs: readonly RangeOutput[];
  readonly #finisher: RangeFinisher;

  constructor({ parts, pipelines, captured }: TablesInput) {
    this.#parts = new PartReader(parts, pipelines);
    this.#outputs = pipelines.map((pipeline) => new RangeOutput(pipeline));
    const to = { reader: this.#parts, pipelines, outputs: this.#outputs };
    this.#finisher = new RangeFinisher({ ...to, ...(captured && { captured }) });
  }

  /** The next piece of a range. */
  async read({ runs, isLast }: RangePiece): Promise<TablesAnswer> {
    for (const run of runs) {
      const lost = run.kind === 'found' && (await this.#finish(run));
      if (lost) return lost;
    }
    if (isLast) {
      this.#finisher.end();
      for (const output of this.#outputs) output.end();
    }
    return { kind: 'read', tables: this.#outputs.map((output) => output.take()) };
  }

  async close(): Promise<void> {
    await this.#parts.close();
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
