import type { Transferable } from 'node:worker_threads';
import { memoryOfTables, type RangeTables } from '@halogrid/results/range-tables';
import { groupRows } from '@halogrid/results/source-groups';
import { mostLines, type WrittenSources } from '@halogrid/results/source-tables';
import type { RangePiece } from './cut-ranges.ts';
import { LostPartError } from './lost-part-error.ts';
import type { TablesAnswer, TablesOrder, TablesTask } from './tables-order.ts';
import type { PartSummary } from './tables-output.ts';

/** Executes orders, for example on a thread; `moved` is memory of the order that may be transferred. */
export type TablesLane = (order: TablesOrder, moved?: readonly Transferable[]) => Promise<TablesAnswer>;

export interface TablesLanesOptions {
  task: TablesTask;
  start(): TablesLane;
  /** The most lanes. */
  most: number;
  /** Called when the tables cannot be made; `add` and `check` say why. */
  failed(): void;
}

/** While this many bytes wait to be written, nothing more is read. */
const mostUnwritten = 2 ** 26;

/**
 * Makes the tables of a job from pieces that come in order. Lanes read ranges in parallel, and the first lane appends
 * the read rows to the files, in order, so the tables do not depend on the number of lanes. A lane starts when a range
 * comes while the others are busy. In memory are one piece for each lane, and some 64 MiB that wait to be written.
 */
export class TablesLanes {
  readonly #options: TablesLanesOptions;
  readonly #lanes: TablesLane[] = [];
  /** The lane of a range that has begun and has not ended. */
  #lane: TablesLane | undefined;
  /** The lanes that are reading. */
  readonly #reading = new Map<TablesLane, Promise<unknown>>();
  /** Resolves when all pieces so far are written. */
  #written: Promise<void> = Promise.resolve();
  #unwrittenBytes = 0;
  /** What has been written, for each pipeline. */
  #known: WrittenSources[] = [];
  /** Whether the lists of sources are rows, and no longer lines. */
  #isRows = false;
  #failure: Error | undefined;
  /** Resolved when a lane has read or written something. */
  #changed = Promise.withResolvers<void>();

  constructor(options: TablesLanesOptions) {
    this.#options = options;
  }

  /** To be called first. */
  async open(): Promise<void> {
    const { growing, pipelines, limits } = this.#options.task;
    await this.#begin()({ kind: 'open', growing, pipelines, limits });
  }

  /**
   * Takes the next piece. Resolves when the one after it may come. Rejects if an earlier piece cannot be made, with
   * LostPartError if a part is lost.
   */
  async add(piece: RangePiece): Promise<void> {
    if (piece.isRows && !this.#isRows) await this.#makeRows();
    const lane = await this.#freeLane();
    this.#lane = piece.isLast ? undefined : lane;
    this.#start(lane, { kind: 'read', ...piece, entries: this.#known[0]?.entries ?? 0 });
  }

  /** Has the lines of all sources so far made into row groups. */
  async #makeRows(): Promise<void> {
    await this.#written;
    this.#isRows = true;
    const { sources } = this.#known[0]!;
    const lists = this.#known.map(({ lines }) => lines);
    for (let from = 0; from < sources; from += groupRows) {
      const to = Math.min(sources, from + groupRows);
      this.#start(await this.#freeLane(), { kind: 'list', lists, from, to });
    }
  }

  /** Has a lane read, and then has the result written. */
  #start(lane: TablesLane, order: TablesOrder): void {
    const read = lane(order);
    this.#reading.set(
      lane,
      read.catch(() => {}).then(() => this.#change(() => this.#reading.delete(lane))),
    );
    this.#written = this.#write(this.#written, this.#take(read));
    this.#written.catch((error) => {
      if (this.#failure) return;
      this.#change(() => (this.#failure = error));
      this.#options.failed();
    });
  }

  /** Whether the next piece would be read at once. */
  get isIdle(): boolean {
    return this.#reading.size === 0;
  }

  /** Throws, as `add` rejects, if a piece cannot be made. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  /**
   * Resolves with a summary for each pipeline when the tables are written. The last piece must have ended its range.
   */
  async finish(sources: number, descriptions: readonly object[]): Promise<PartSummary[]> {
    if (sources > (this.#options.task.limits?.lines ?? mostLines) && !this.#isRows) await this.#makeRows();
    await this.#written;
    await Promise.all(this.#lanes.map((lane) => lane({ kind: 'end' })));
    const answer = await this.#lanes[0]!({ kind: 'finish', sources, descriptions });
    if (answer?.kind !== 'finished') throw new Error('the tables were not finished');
    return answer.summaries;
  }

  /** Resolves when no lane is at work, also after a failure. */
  async whenIdle(): Promise<void> {
    await Promise.allSettled([this.#written, ...this.#reading.values()]);
  }

  /** The lane for the next piece, once one is free. The first lane is taken last, because it also writes. */
  async #freeLane(): Promise<TablesLane> {
    for (;;) {
      this.check();
      const lanes = this.#lane ? [this.#lane] : this.#lanes;
      const lane = lanes.findLast((lane) => !this.#reading.has(lane));
      const mayStart = !this.#lane && this.#lanes.length < this.#options.most;
      if (this.#unwrittenBytes < mostUnwritten && (lane || mayStart)) return lane ?? this.#begin();
      await this.#changed.promise;
    }
  }

  #begin(): TablesLane {
    const { task, start } = this.#options;
    const lane = start();
    this.#lanes.push(lane);
    const pipelines = task.pipelines.map(({ name, shape }) => ({ name, shape }));
    const { parts, captured } = task;
    // If this fails, the next order fails too.
    lane({ kind: 'begin', parts, pipelines, captured }).catch(() => {});
    return lane;
  }

  /** The tables that a lane read. */
  async #take(read: Promise<TablesAnswer>): Promise<RangeTables[]> {
    const answer = await read;
    if (answer?.kind === 'lost') throw new LostPartError(answer.lost);
    if (answer?.kind !== 'read') throw new Error('nothing was read');
    this.#unwrittenBytes += bytesOf(answer.tables);
    return answer.tables;
  }

  async #write(before: Promise<void>, read: Promise<RangeTables[]>): Promise<void> {
    // The error of the earliest piece is reported.
    await Promise.allSettled([before, read]);
    await before;
    const tables = await read;
    const bytes = bytesOf(tables);
    const answer = await this.#lanes[0]!({ kind: 'write', tables }, memoryOfTables(tables));
    if (answer?.kind === 'written') this.#known = answer.written;
    this.#change(() => (this.#unwrittenBytes -= bytes));
  }

  #change(change: () => void): void {
    change();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

const bytesOf = (tables: readonly RangeTables[]): number =>
  memoryOfTables(tables).reduce((sum, { byteLength }) => sum + byteLength, 0);
