import { Marks, NumberColumn } from './columns.ts';
import type { PlannedFact } from './fact.ts';
import type { FactPlace } from './fact-place.ts';

/** A planned fact. */
export interface PlannedPlace {
  /** Its first source and its first shard. */
  first: number;
  firstShard: number;
  /** Undefined until it is written. */
  place: FactPlace | undefined;
}

/** A source that a shard of frames is of. */
export interface FrameOfShard {
  shard: number;
  /** Its place among the sources of the shard. */
  nth: number;
  /** How many sources follow it in the shard without a gap, itself included. */
  left: number;
}

/** What a checkpoint keeps of it. */
export interface StoredIndex {
  sources: number;
  shards: number;
  done: Uint8Array;
  plan: StoredTable;
  runs: StoredTable;
  answers: StoredTable;
  wholes: readonly [source: number, epoch: number, offset: number, length: number][];
}

/**
 * Where the sources and shards of a job were planned, and where what was found of them lies. Its memory grows with the
 * number of shards, and not with that of their sources: a shard takes 24 bytes and a bit, a run of its sources 32, a
 * planned fact 40. Only images that are cut or kept take memory one by one, once they are done.
 */
export class SourceIndex {
  sources: number;
  shards: number;
  readonly #done: Marks;
  readonly #plan: Table;
  /** Runs of sources of shards of frames. */
  #runs: Table;
  /** Whether they are in order of source: a batch may have sources before and behind an image that is cut. */
  #areRunsSorted = false;
  /** Of each shard the place of its answer. */
  readonly #answers: Table;
  readonly #wholes: Map<number, FactPlace | undefined>;
  #placedFacts: number;

  constructor(stored?: StoredIndex) {
    this.sources = stored?.sources ?? 0;
    this.shards = stored?.shards ?? 0;
    this.#done = new Marks(stored?.done);
    this.#plan = new Table(['first', 'firstShard', 'epoch', 'offset', 'length'], stored?.plan);
    this.#runs = new Table(['first', 'count', 'shard', 'nth'], stored?.runs);
    this.#answers = new Table(['epoch', 'offset', 'length'], stored?.answers);
    const wholes = stored?.wholes ?? [];
    this.#wholes = new Map(wholes.map(([source, epoch, offset, length]) => [source, { epoch, offset, length }]));
    this.#placedFacts = this.#plan.rows;
  }

  plan({ first, sources, firstShard, shards }: PlannedFact): void {
    if (first !== this.sources || firstShard !== this.shards) {
      throw new RangeError(
        `Source ${first} and shard ${firstShard} were planned after ${this.sources} and ${this.shards}`,
      );
    }
    this.#plan.push([first, firstShard, 0, Number.NaN, 0]);
    this.sources += sources;
    for (const { work } of shards) {
      const shard = this.shards++;
      this.#answers.push([0, Number.NaN, 0]);
      if (work.kind === 'tile') continue;
      for (let i = 0, nth = 0; i < work.runs.length; i += 2) {
        this.#runs.push([work.runs[i]!, work.runs[i + 1]!, shard, nth]);
        nth += work.runs[i + 1]!;
      }
      this.#areRunsSorted = false;
    }
  }

  /** Planned facts are written in their order. */
  placePlanned(place: FactPlace): void {
    this.#plan.setPlace(this.#placedFacts++, place);
  }

  placeAnswer(shard: number, place: FactPlace): void {
    this.#answers.setPlace(shard, place);
  }

  placeWhole(source: number, place: FactPlace): void {
    this.#wholes.set(source, place);
  }

  setDone(shard: number, isDone: boolean): void {
    if (!(shard < this.shards)) throw new RangeError(`There is no shard ${shard}`);
    this.#done.set(shard, isDone);
    if (!isDone) this.#answers.setPlace(shard, { epoch: 0, offset: Number.NaN, length: 0 });
  }

  isDone(shard: number): boolean {
    return this.#done.has(shard);
  }

  setWhole(source: number): void {
    this.#wholes.set(source, undefined);
  }

  isWhole(source: number): boolean {
    return this.#wholes.has(source);
  }

  /** Where the counts of an image that is whole lie; undefined until they are written. */
  whole(source: number): FactPlace | undefined {
    return this.#wholes.get(source);
  }

  /** Where the answer of a shard of frames lies; undefined until it is written, and where there is none. */
  answer(shard: number): FactPlace | undefined {
    return this.#answers.place(shard);
  }

  /** Undefined for an image that is cut or kept, or that no shard is of yet. */
  frame(source: number): FrameOfShard | undefined {
    this.#sortRuns();
    const row = this.#runs.column('first').lastUpTo(source);
    if (row < 0) return undefined;
    const into = source - this.#runs.at('first', row);
    const left = this.#runs.at('count', row) - into;
    return left > 0 ? { shard: this.#runs.at('shard', row), nth: this.#runs.at('nth', row) + into, left } : undefined;
  }

  /** The planned fact that has the source. */
  planned(source: number): PlannedPlace | undefined {
    if (!(source < this.sources)) return undefined;
    return this.#plannedAt(this.#plan.column('first').lastUpTo(source));
  }

  /** In their order. */
  *plannedFacts(): Generator<PlannedPlace & { endShard: number }> {
    for (let row = 0; row < this.#plan.rows; row++) {
      const endShard = row + 1 < this.#plan.rows ? this.#plan.at('firstShard', row + 1) : this.shards;
      yield { ...this.#plannedAt(row), endShard };
    }
  }

  /** Everything is written. */
  get stored(): StoredIndex {
    this.#sortRuns();
    return {
      ...{ sources: this.sources, shards: this.shards, done: this.#done.bytes },
      ...{ plan: this.#plan.stored, runs: this.#runs.stored, answers: this.#answers.stored },
      wholes: [...this.#wholes].map(([source, place]) => [source, place!.epoch, place!.offset, place!.length]),
    };
  }

  #plannedAt(row: number): PlannedPlace {
    const { at } = this.#plan;
    return { first: at('first', row), firstShard: at('firstShard', row), place: this.#plan.place(row) };
  }

  #sortRuns(): void {
    if (this.#areRunsSorted) return;
    this.#runs = this.#runs.sortedBy('first');
    this.#areRunsSorted = true;
  }
}

/** Columns of numbers by name, as bytes. */
export type StoredTable = Readonly<Record<string, Uint8Array>>;

/** Rows of numbers in columns. */
class Table {
  readonly #names: readonly string[];
  readonly #columns: ReadonlyMap<string, NumberColumn>;

  constructor(names: readonly string[], stored?: StoredTable) {
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

  setPlace(row: number, { epoch, offset, length }: FactPlace): void {
    this.column('epoch').set(row, epoch);
    this.column('offset').set(row, offset);
    this.column('length').set(row, length);
  }

  place(row: number): FactPlace | undefined {
    const offset = this.at('offset', row);
    return Number.isNaN(offset) ? undefined : { epoch: this.at('epoch', row), offset, length: this.at('length', row) };
  }

  sortedBy(name: string): Table {
    const column = this.column(name);
    let isSorted = true;
    for (let row = 1; row < this.rows; row++) isSorted &&= column.at(row - 1) <= column.at(row);
    if (isSorted) return this;
    const rows = Float64Array.from({ length: this.rows }, (_, row) => row).sort((a, b) => column.at(a) - column.at(b));
    const sorted = new Table(this.#names);
    for (const row of rows) sorted.push(this.#names.map((of) => this.at(of, row)));
    return sorted;
  }

  get stored(): StoredTable {
    return Object.fromEntries(this.#names.map((name) => [name, this.column(name).bytes]));
  }
}
