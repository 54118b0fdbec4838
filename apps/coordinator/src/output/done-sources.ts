import type { Size } from '@halogrid/geometry';
import type { FoundRun, SettledSources } from '@halogrid/ledger';
import { readLogBytes } from '@halogrid/ledger/read-log-bytes';
import type { JobSpec } from '@halogrid/proto';
import { PartError } from '@halogrid/results/part-error';
import { PartReader } from '@halogrid/results/part-reader';
import { SourceBlock } from '@halogrid/sources/source-block';
import { limitConcurrency } from '@halogrid/threads';
import { LostPartError } from './lost-part-error.ts';
import { atOnce, type UntilWritten } from './output-wait.ts';
import { partPipelines, partsPath } from './write-part.ts';

/** A source that is done. */
export interface DoneSource {
  index: number;
  /** The name of its files, without extensions. */
  name: string;
  size: Size;
  /** How many results it was made from. */
  tiles: number;
}

/** The sources of a block, and the size of each that was found. */
interface ReadShard {
  block: SourceBlock;
  sizes: (Size | undefined)[];
}

/** Sources that are requested at once. */
const runSources = 1024;

/** Reads the sources of a job from its log and its parts, as pictures and maps need them. */
export class DoneSources {
  readonly #settled: (from: number, atMost: number) => Promise<SettledSources>;
  readonly #reader: PartReader;
  /** The reader reads one shard at a time. */
  readonly #inTurn = limitConcurrency(1);
  readonly #until: UntilWritten;
  /** The shard that was read last, by its part and the place of its block. */
  #last: { key: string; read: Promise<ReadShard> } | undefined;

  /** `until` repeats reads that fail for now; by default, nothing is repeated. */
  constructor(
    spec: JobSpec,
    settled: (from: number, atMost: number) => Promise<SettledSources>,
    until: UntilWritten = atOnce,
  ) {
    this.#settled = settled;
    this.#until = until;
    this.#reader = new PartReader(partsPath(spec.out), partPipelines(spec));
  }

  /** The source of that number; undefined until it is settled. Rejects with LostPartError. */
  async look(index: number): Promise<DoneSource | 'quarantined' | undefined> {
    const [run] = (await this.#settled(index, 1)).runs;
    if (!run) return undefined;
    return run.kind === 'quarantined' ? 'quarantined' : this.#source(run, index);
  }

  /** All done sources, in order. Rejects with LostPartError. */
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

  /** Closes the open files. To be called last. */
  async close(): Promise<void> {
    await this.#reader.close();
  }

  async #source(run: FoundRun, index: number): Promise<DoneSource> {
    const { block, sizes } = await this.#until(() => this.#readLast(run));
    const nth = run.planned.nth + index - run.first;
    return { index, name: block.name(nth), size: sizes[nth]!, tiles: block.tiles(nth) };
  }

  async #readLast(run: FoundRun): Promise<ReadShard> {
    const { file, offset } = run.planned;
    const key = `${run.found.part} ${file} ${offset}`;
    if (this.#last?.key !== key) this.#last = { key, read: this.#inTurn(() => this.#read(run)) };
    const last = this.#last;
    try {
      return await last.read;
    } catch (error) {
      if (this.#last === last) this.#last = undefined;
      throw error;
    }
  }

  async #read({ planned: { file, offset, length }, found, shard }: FoundRun): Promise<ReadShard> {
    const block = new SourceBlock(readLogBytes(file, offset, length));
    try {
      return { block, sizes: await this.#reader.sizes(found, block.length) };
    } catch (error) {
      if (!(error instanceof PartError)) throw error;
      const { message, isFalse } = error;
      throw new LostPartError({ message, shard, isFalse });
    }
  }
}
