import type { Size } from '@halogrid/geometry';
import type { JobSpec } from '@halogrid/proto';
import { PartError } from '@halogrid/results/part-error';
import { PartReader } from '@halogrid/results/part-reader';
import { SourceBlock } from '@halogrid/sources/source-block';
import { limitConcurrency } from '@halogrid/threads';
import type { FoundRun, SettledSources } from '../ledger/ledger.ts';
import { readLogBytes } from '../log/read-bytes.ts';
import { LostPartError } from './lost-part-error.ts';
import { partPipelines, partsPath } from './write-part.ts';

/** A source that is done. */
export interface DoneSource {
  index: number;
  /** That of its files, without extensions. */
  name: string;
  size: Size;
  /** Results that made it. */
  tiles: number;
}

/** Sources that are asked for at once. */
const runSources = 1024;

/** What pictures and maps need to know of the sources of a job, from its log and its parts. */
export class DoneSources {
  readonly #settled: (from: number, atMost: number) => Promise<SettledSources>;
  readonly #reader: PartReader;
  /** The reader is asked for one shard after another. */
  readonly #inTurn = limitConcurrency(1);
  /** What was read last, by its part and the place of its block. */
  #last: { block: SourceBlock; sizes: Promise<(Size | undefined)[]>; key: string } | undefined;

  constructor(spec: JobSpec, settled: (from: number, atMost: number) => Promise<SettledSources>) {
    this.#settled = settled;
    this.#reader = new PartReader(partsPath(spec.out), partPipelines(spec));
  }

  /** The source of that number; undefined until it is settled. Rejects with LostPartError. */
  async look(index: number): Promise<DoneSource | 'quarantined' | undefined> {
    const [run] = (await this.#settled(index, 1)).runs;
    if (!run) return undefined;
    return run.kind === 'quarantined' ? 'quarantined' : this.#source(run, index);
  }

  /** All of them, in order. Rejects with LostPartError. */
  async *[Symbol.asyncIterator](): AsyncGenerator<DoneSource, void, undefined> {
    for (let from = 0; ; ) {
      const { next, runs } = await this.#settled(from, runSources);
      for (const run of runs) {
        if (run.kind === 'quarantined') continue;
        for (let index = run.first; index < run.first + run.count; index++) yield await this.#source(run, index);
      }
      if (next === from) return;
      from = next;
    }
  }

  /** Closes the files that are open. Nothing may be asked any more. */
  async close(): Promise<void> {
    await this.#reader.close();
  }

  async #source({ first, planned, found, shard }: FoundRun, index: number): Promise<DoneSource> {
    const { file, offset, length } = planned;
    const key = `${found.part} ${file} ${offset}`;
    if (this.#last?.key !== key) {
      const block = new SourceBlock(readLogBytes(file, offset, length));
      this.#last = { key, block, sizes: this.#inTurn(() => this.#reader.sizes(found, block.length)) };
    }
    const { block, sizes } = this.#last;
    const nth = planned.nth + index - first;
    try {
      return { index, name: block.name(nth), size: (await sizes)[nth]!, tiles: block.tiles(nth) };
    } catch (error) {
      if (!(error instanceof PartError)) throw error;
      const { message, isFalse } = error;
      throw new LostPartError({ message, shard, isFalse });
    }
  }
}
