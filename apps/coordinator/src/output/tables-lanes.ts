import type { Transferable } from 'node:worker_threads';
import { memoryOfTables } from '@halogrid/results/range-tables';
import type { RangePiece } from './cut-ranges.ts';
import { LostPartError } from './lost-part-error.ts';
import type { TablesAnswer, TablesOrder, TablesTask } from './tables-order.ts';
import type { PartSummary } from './tables-output.ts';

/** Has orders obeyed, such as by a thread; `moved` is memory of the order that may change hands. */
export type TablesLane = (order: TablesOrder, moved?: readonly Transferable[]) => Promise<TablesAnswer>;

export interface TablesLanesOptions {
  task: TablesTask;
  /** Starts a lane. */
  start(): TablesLane;
  /** How many lanes there are at most. */
  most: number;
  /** Told when the tables cannot be made; `add` and `check` say why. */
  failed(): void;
}

/**
 * Makes the tables of a job, whose pieces come in order: lanes read ranges side by side, and the first lane writes what
 * was read, in order. So the tables do not depend on how many lanes there are. A lane starts when a range comes
 * while the others are busy. Holds what was read of a piece a lane, and of one more.
 */
export class TablesLanes {
  readonly #options: TablesLanesOptions;
  readonly #lanes: TablesLane[] = [];
  /** The last that became idle is the next to be used. */
  readonly #idle: TablesLane[] = [];
  /** A promise a range, in order: its lane is idle then. */
  readonly #busy = new Set<Promise<void>>();
  /** That of a range that has begun and has not ended. */
  #lane: TablesLane | undefined;
  /** Resolves when all pieces so far are written. */
  #written: Promise<void> = Promise.resolve();
  #failure: Error | undefined;

  constructor(options: TablesLanesOptions) {
    this.#options = options;
  }

  /** To be called first. */
  async open(): Promise<void> {
    const { parts, pipelines, captured, limits } = this.#options.task;
    const lane = this.#begin();
    this.#idle.push(lane);
    await lane({ kind: 'open', parts, pipelines, ...(captured && { captured }), ...(limits && { limits }) });
  }

  /**
   * The next piece. Resolves when the one after it may come; rejects where it or one before it cannot be made, with
   * LostPartError where a part is lost.
   */
  async add(piece: RangePiece): Promise<void> {
    this.#lane ??= await this.#take();
    const lane = this.#lane;
    const before = this.#written;
    const read = lane({ kind: 'read', ...piece });
    this.#written = this.#write(piece, before, read);
    this.#written.catch((error) => {
      if (this.#failure) return;
      this.#failure = error;
      this.#options.failed();
    });
    if (!piece.isLast) return this.#written;
    this.#lane = undefined;
    const idle: Promise<void> = Promise.all([before, read]).then(() => {
      this.#busy.delete(idle);
      this.#idle.push(lane);
    });
    idle.catch(() => {});
    this.#busy.add(idle);
  }

  /** Whether what comes next is read at once. */
  get isIdle(): boolean {
    return this.#busy.size === 0;
  }

  /** Throws where one of the pieces cannot be made, as `add` rejects. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Resolves, with a summary a pipeline, when the tables are there. The last piece was the last of its range. */
  async finish(sources: number, descriptions: readonly object[]): Promise<PartSummary[]> {
    await this.#written;
    await Promise.all(this.#lanes.map((lane) => lane({ kind: 'end' })));
    const answer = await this.#lanes[0]!({ kind: 'finish', sources, descriptions });
    if (answer?.kind !== 'finished') throw new Error('the tables were not finished');
    return answer.summaries;
  }

  /** Resolves when no lane is at work, also after a failure. */
  async whenIdle(): Promise<void> {
    await Promise.allSettled([this.#written, ...this.#busy]);
  }

  async #take(): Promise<TablesLane> {
    if (this.#idle.length === 0 && this.#lanes.length < this.#options.most) return this.#begin();
    while (this.#idle.length === 0) await this.#busy.values().next().value;
    return this.#idle.pop()!;
  }

  #begin(): TablesLane {
    const { task, start } = this.#options;
    const lane = start();
    this.#lanes.push(lane);
    const pipelines = task.pipelines.map(({ name, shape }) => ({ name, shape }));
    const { parts, captured } = task;
    // Where it fails, the next order does.
    lane({ kind: 'begin', parts, pipelines, ...(captured && { captured }) }).catch(() => {});
    return lane;
  }

  async #write({ runs }: RangePiece, before: Promise<void>, read: Promise<TablesAnswer>): Promise<void> {
    const [, answer] = await Promise.all([before, read]);
    if (answer?.kind === 'lost') throw new LostPartError(answer.lost);
    if (answer?.kind !== 'read') throw new Error('nothing was read');
    const { tables } = answer;
    await this.#lanes[0]!({ kind: 'write', runs, tables }, memoryOfTables(tables));
  }
}
