import { SourceRuns } from '@halogrid/jobs/source-runs';
import { Marks, NumberColumn } from './columns.ts';
import type { PlannedFact } from './fact.ts';
import type { FactPlace } from './fact-place.ts';

/** Where a source was planned. */
export interface PlannedPlace {
  /** The place of the planned fact with its block; undefined until the fact is written. */
  place: FactPlace | undefined;
  /** Its index in the block. */
  nth: number;
  /**
   * Length of the run from this source on, itself included, whose sources follow one another both in the block and in
   * the job.
   */
  left: number;
  /** The shard of all sources of the block, if they share one: a shard of frames or of kept sources. */
  shard?: number;
}

/** A SourceIndex as a checkpoint stores it. */
export interface SourceIndexState {
  sources: number;
  shards: number;
  done: Uint8Array;
  plan: PackedColumns;
  runs: PackedColumns;
  answers: PackedColumns;
  wholes: readonly [source: number, epoch: number, offset: number, length: number][];
}

/**
 * The places in the logs of a job's sources, shards and answers. Its memory grows with the number of shards, not of
 * sources: 40 bytes per planned fact, 32 per run of its sources, 24 bytes and one bit per shard. In addition each tiled
 * image takes memory once it is done.
 */
export class SourceIndex {
  sources: number;
  shards: number;
  readonly #done: Marks;
  /** Planned facts, each with the shard of its whole block, if there is one. */
  readonly #plan: Table;
  /** Runs of sources in blocks, in order of source number. Blocks are planned in almost any order. */
  readonly #runs: Table;
  /** The place of each shard's answer. */
  readonly #answers: Table;
  readonly #wholes: Map<number, FactPlace | undefined>;
  #placedFacts: number;

  constructor(stored?: SourceIndexState) {
    this.sources = stored?.sources ?? 0;
    this.shards = stored?.shards ?? 0;
    this.#done = new Marks(stored?.done);
    this.#plan = new Table(['firstShard', 'shard', 'epoch', 'offset', 'length'], stored?.plan);
    this.#runs = new Table(['first', 'count', 'fact', 'nth'], stored?.runs);
    this.#answers = new Table(['epoch', 'offset', 'length'], stored?.answers);
    const wholes = stored?.wholes ?? [];
    this.#wholes = new Map(wholes.map(([source, epoch, offset, length]) => [source, { epoch, offset, length }]));
    this.#placedFacts = this.#plan.rows;
  }

  plan({ sources, firstShard, shards }: PlannedFact): void {
    if (firstShard !== this.shards) throw new RangeError(`Shard ${firstShard} was planned after ${this.shards}`);
    const fact = this.#plan.rows;
    this.#plan.push([firstShard, Number.NaN, 0, Number.NaN, 0]);
    new SourceRuns(Float64Array.from(sources?.runs ?? [])).forEach((first, end, nth) => {
      this.#planRun(first, end, fact, nth);
    });
    for (const { first, work } of shards) {
      const shard = this.shards++;
      this.#answers.push([0, Number.NaN, 0]);
      const run = this.#runOf(first);
      if (run < 0) throw new RangeError(`Shard ${shard} is of source ${first}, which is not planned`);
      if (work.kind !== 'tile') this.#plan.column('shard').set(this.#runs.at('fact', run), shard);
    }
  }

  #planRun(first: number, end: number, fact: number, nth: number): void {
    const before = this.#runs.column('first').lastUpTo(end - 1);
    if (before >= 0 && this.#runs.at('first', before) + this.#runs.at('count', before) > first) {
      throw new RangeError(`Source ${first} is planned twice`);
    }
    this.#runs.insert(before + 1, [first, end - first, fact, nth]);
    this.sources += end - first;
  }

  /** Stores the place of the next planned fact; they are written in order. */
  placePlanned(place: FactPlace): void {
    this.#plan.setPlace(this.#placedFacts++, place);
  }

  /** Stores the place of a shard's answer; undefined: it has none. */
  placeAnswer(shard: number, place: FactPlace | undefined): void {
    this.#answers.setPlace(shard, place ?? nowhere);
  }

  placeWhole(source: number, place: FactPlace): void {
    this.#wholes.set(source, place);
  }

  setDone(shard: number, isDone: boolean): void {
    if (!(shard < this.shards)) throw new RangeError(`There is no shard ${shard}`);
    this.#done.set(shard, isDone);
    if (!isDone) this.placeAnswer(shard, undefined);
  }

  isDone(shard: number): boolean {
    return this.#done.has(shard);
  }

  get areAllDone(): boolean {
    for (let shard = 0; shard < this.shards; shard++) if (!this.#done.has(shard)) return false;
    return true;
  }

  setWhole(source: number): void {
    this.#wholes.set(source, undefined);
  }

  isWhole(source: number): boolean {
    return this.#wholes.has(source);
  }

  /** Where the counts of a whole image lie; undefined until they are written. */
  whole(source: number): FactPlace | undefined {
    return this.#wholes.get(source);
  }

  /** Where the answer of a shard lies; undefined until it is written, and if the shard has none. */
  answer(shard: number): FactPlace | undefined {
    return this.#answers.place(shard);
  }

  /** Where a source was planned; undefined if it was not. */
  planned(source: number): PlannedPlace | undefined {
    const run = this.#runOf(source);
    if (run < 0) return undefined;
    const fact = this.#runs.at('fact', run);
    const shard = this.#plan.at('shard', fact);
    const into = source - this.#runs.at('first', run);
    return {
      place: this.#plan.place(fact),
      nth: this.#runs.at('nth', run) + into,
      left: this.#runs.at('count', run) - into,
      ...(!Number.isNaN(shard) && { shard }),
    };
  }

  /** The planned facts in order. */
  *plannedFacts(): Generator<{ place: FactPlace | undefined; firstShard: number; endShard: number }> {
    for (let row = 0; row < this.#plan.rows; row++) {
      const endShard = row + 1 < this.#plan.rows ? this.#plan.at('firstShard', row + 1) : this.shards;
      yield { place: this.#plan.place(row), firstShard: this.#plan.at('firstShard', row), endShard };
    }
  }

  /** The form that a checkpoint stores. All facts must be written. */
  get stored(): SourceIndexState {
    return {
      sources: this.sources,
      shards: this.shards,
      done: this.#done.bytes,
      plan: this.#plan.stored,
      runs: this.#runs.stored,
      answers: this.#answers.stored,
      wholes: [...this.#wholes].map(([source, place]) => [source, place!.epoch, place!.offset, place!.length]),
    };
  }

  /** The row of the run with a source; -1: it was not planned. */
  #runOf(source: number): number {
    const row = this.#runs.column('first').lastUpTo(source);
    return row >= 0 && source < this.#runs.at('first', row) + this.#runs.at('count', row) ? row : -1;
  }
}

const nowhere: FactPlace = { epoch: 0, offset: Number.NaN, length: 0 };

/** Columns of numbers by name, as bytes. */
export type PackedColumns = Readonly<Record<string, Uint8Array>>;

/** Rows of numbers in columns. */
class Table {
  readonly #names: readonly string[];
  readonly #columns: ReadonlyMap<string, NumberColumn>;

  constructor(names: readonly string[], stored?: PackedColumns) {
    this.#names = names;
    this.#columns = new Map(names.map((name) => [name, new NumberColumn(stored?.[name])]));
  }

  get rows(): number {
    return this.column(this.#names[0]!).length;
  }

  column(name: string): NumberColumn {
    return this.#columns.get(name)!;
  }

  readonly at = (name: string, row: number): number => this.column(name).at(row);

  /** Values in the order of the names. */
  push(values: readonly number[]): void {
    for (const [i, name] of this.#names.entries()) this.column(name).push(values[i]!);
  }

  /** As `push`, before the row at `row`. */
  insert(row: number, values: readonly number[]): void {
    for (const [i, name] of this.#names.entries()) this.column(name).insert(row, values[i]!);
  }

  setPlace(row: number, { epoch, offset, length }: FactPlace): void {
    this.column('epoch').set(row, epoch);
    this.column('offset').set(row, offset);
    this.column('length').set(row, length);
  }

  place(row: number): FactPlace | undefined {
    const offset = this.at('offset', row);
    return Number.isNaN(offset) ? undefined : { epoch: this.at('epoch', row), offset, length: this.at('length', row) };
  }

  get stored(): PackedColumns {
    return Object.fromEntries(this.#names.map((name) => [name, this.column(name).bytes]));
  }
}
