import { access, constants } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type AcceptedJob, jobGrid, jobParts } from '@halogrid/jobs/accepted-job';
import { outputPath, unfinishedTablesPath } from '@halogrid/jobs/output-paths';
import type { SettledSources } from '@halogrid/ledger';
import { binsOfSource, histogramShape } from '@halogrid/results/histogram-shape';
import { jobLine } from '@halogrid/results/job-line';
import { newFilesPath } from '@halogrid/results/publish-output';
import { type PackedSystemError, SpareThread, ThreadClient, unpackSystemError } from '@halogrid/threads';
import { coresHere } from '@halogrid/threads/limits';
import { RangeCutter, type RangePiece } from './cut-ranges.ts';
import type { UntilWritten } from './output-wait.ts';
import { type TablesLane, TablesLanes } from './tables-lanes.ts';
import { type TablesAnswer, type TablesOrder, type TablesTask, tablePaths } from './tables-order.ts';
import type { PartSummary, TablesEvents, TablesOutput } from './tables-output.ts';
import { partsPath } from './write-part.ts';

type TablesThread = ThreadClient<TablesOrder, TablesAnswer>;

export interface TablesFileOptions extends TablesTask {
  /** As Ledger.settled, for one job. */
  settled(from: number, atMost: number): Promise<SettledSources>;
  /** Called once if the tables cannot be written, with one sentence; with LostPartError if a part is lost. */
  failed(error: Error): void;
  /** Repeats writing the tables, from the beginning, until they are written. */
  until: UntilWritten;
  /**
   * Makes the threads that write the tables, unless the tables are small. `threads`: the most threads; the default
   * depends on the machine.
   */
  thread?: SpareThread;
  threads?: number;
  /** Tables of at most this many bins are written by this thread: see `TablesFile`. */
  fewBins?: number;
}

/**
 * Limit of the young generation of a thread: data of a shard lives for milliseconds. Four threads take 160 MB less
 * memory than with Node's own limit, for the same processor time (measured).
 */
const resourceLimits = { maxYoungGenerationSizeMb: 24 };

/** A thread for the next job that starts. */
export const tablesThread = new SpareThread(new URL('./tables-worker.ts', import.meta.url), resourceLimits);

/** How many bins a source without a histogram counts as. */
const leastBins = 256;

/** The most sources in one order: as objects they take some two megabytes. */
const orderSources = 4096;

/**
 * Six threads make 170,000 to 210,000 rows a second on 32 cores (measured): more than the one thread that lists sources
 * yields.
 */
const mostThreads = 6;

/** The most threads that make the tables of a job on a machine with this many cores. Nodes may want the other cores. */
const threadsOf = (cores: number): number => Math.max(1, Math.min(mostThreads, Math.floor(cores / 3)));

/**
 * The tables of a job: features.parquet, sources.jsonl and errors.jsonl of each pipeline, written by threads while
 * results come. Sources are written in order, once all before them are done or quarantined. A thread reads them from
 * the job's parts, one range after another, so that nothing piles up in memory, however late the first source is or
 * however slow the threads. If the disk is full, other threads later write the tables from the beginning. For a job
 * with few sources, no thread is started: a start takes 50 ms of processor time (measured), and writing small tables a
 * few. They are written on this thread once the job is settled.
 *
 * The tables grow in the scratch folder, so that remains of a failed job are removed with it.
 */
export class TablesFile implements TablesOutput {
  readonly #options: TablesFileOptions;
  /** The name of the tables in errors. */
  readonly #path: string;
  /** Stops the writers; resolves when they have stopped. */
  #stop: (() => Promise<unknown>) | undefined;
  /** Resolves when the tables are written; undefined before the start. */
  #written: Promise<PartSummary[]> | undefined;
  /** How many sources the job has, once all are settled. */
  #sources: number | undefined;
  /** The description in each features.parquet, without its digest; known with `#sources`. */
  #descriptions: readonly object[] = [];
  /** Resolved when there may be something to do. */
  #more = Promise.withResolvers<void>();
  #isAborted = false;

  constructor(options: TablesFileOptions) {
    this.#options = options;
    const [{ paths, shape }] = options.pipelines as [TablesTask['pipelines'][number]];
    this.#path = shape.bins > 0 ? paths.features : paths.sources;
  }

  /** To be called when the first shard is leased. */
  start(): void {
    if (this.#written) return;
    this.#written = this.#options.until(() => this.#write());
    this.#written.catch((error: Error) => {
      if (!this.#isAborted) this.#options.failed(error);
    });
  }

  /** More sources may be settled. */
  advance(): void {
    this.#more.resolve();
  }

  /**
   * All `sources` of the job are settled. Resolves with a summary for each pipeline when the tables are written;
   * rejects with one sentence, with LostPartError if a part is lost.
   */
  async finish(sources: number, descriptions: readonly object[]): Promise<PartSummary[]> {
    this.#sources = sources;
    this.#descriptions = descriptions;
    this.start();
    this.advance();
    return this.#written!;
  }

  /** Stops writing, for good. Resolves when nothing is being written. */
  async abort(): Promise<void> {
    this.#isAborted = true;
    this.#more.resolve();
    await this.#stop?.();
  }

  async #write(): Promise<PartSummary[]> {
    if (this.#isAborted) throw aborted;
    // Fails early if the folder is not writable: nothing that is computed meanwhile could be written.
    await access(dirname(this.#options.growing), constants.W_OK).catch((error: Error) => {
      throw failure(this.#path, error);
    });
    const areFew = await this.#areFew();
    if (this.#isAborted) throw aborted;
    return areFew ? this.#writeHere() : this.#writeByThreads();
  }

  /** Whether the job's tables are so small that a thread would start no faster; waits until that is known. */
  async #areFew(): Promise<boolean> {
    const { pipelines, settled, fewBins = 2 ** 16 } = this.#options;
    const bins = pipelines.reduce((sum, { shape }) => sum + Math.max(binsOfSource(shape), leastBins), 0);
    const few = Math.floor(fewBins / bins);
    while (this.#sources === undefined && !this.#isAborted) {
      const { next } = await settled(0, few + 1);
      if (next > few) return false;
      await this.#waitForMore();
    }
    return this.#sources! <= few;
  }

  async #writeHere(): Promise<PartSummary[]> {
    const { TablesOrders } = await import('./tables-orders.ts');
    const orders = new TablesOrders();
    const lane: TablesLane = (order) =>
      orders.obey(order).catch((error: Error) => {
        throw failure(this.#path, error);
      });
    const lanes = this.#lanes(() => lane, 1);
    const fill = this.#fill(lanes).catch(async (error) => {
      await lanes.whenIdle();
      await orders.abort();
      throw this.#isAborted ? aborted : error;
    });
    this.#stop = () => fill.catch(() => {});
    return fill;
  }

  async #writeByThreads(): Promise<PartSummary[]> {
    const { thread = tablesThread, threads = threadsOf(coresHere()) } = this.#options;
    const clients: TablesThread[] = [];
    const start = (): TablesLane => {
      const client = startThread(thread, this.#path);
      clients.push(client);
      void client.whenEnded.then(() => this.#more.resolve());
      return (order, moved) => client.order(order, moved);
    };
    const stop = () => Promise.all(clients.map((client) => client.terminate()));
    this.#stop = stop;
    try {
      const summaries = await this.#fill(this.#lanes(start, threads), clients);
      for (const client of clients) thread.give(client.release());
      return summaries;
    } catch (error) {
      // The threads have unfinished files open.
      void stop();
      throw this.#isAborted ? aborted : error;
    } finally {
      this.#stop = undefined;
    }
  }

  #lanes(start: () => TablesLane, most: number): TablesLanes {
    return new TablesLanes({ task: this.#options, start, most, failed: () => this.#more.resolve() });
  }

  /** Gives lanes one piece after another, until the tables are written. */
  async #fill(lanes: TablesLanes, threads: readonly TablesThread[] = []): Promise<PartSummary[]> {
    const { pipelines, settled, limits } = this.#options;
    const cutter = new RangeCutter(
      pipelines.map(({ shape }) => shape),
      { lines: limits?.lines },
    );
    const add = async (pieces: RangePiece[]): Promise<void> => {
      for (const piece of pieces) {
        if (this.#isAborted) throw aborted;
        await lanes.add(piece);
      }
    };
    await lanes.open();
    for (let from = 0; from !== this.#sources; ) {
      const areAllSettled = this.#sources !== undefined;
      const { next, runs } = await settled(from, orderSources);
      for (const run of runs) await add(cutter.add(run));
      if (next === from) {
        if (areAllSettled) throw failure(this.#path, new Error(`the result of source ${from} is missing`));
        const behind = lanes.isIdle ? cutter.endPiece() : [];
        if (behind.length > 0) await add(behind);
        else await this.#waitForMore();
        if (this.#isAborted) throw aborted;
        lanes.check();
        for (const thread of threads) if (thread.hasEnded) throw await thread.whenEnded;
      }
      from = next;
    }
    await add(cutter.end());
    return lanes.finish(this.#sources!, this.#descriptions);
  }

  async #waitForMore(): Promise<void> {
    await this.#more.promise;
    this.#more = Promise.withResolvers();
  }
}

function startThread(thread: SpareThread, path: string): TablesThread {
  return new ThreadClient(thread.take(), {
    ended: (end) => failure(path, 'error' in end ? end.error : new Error(`its thread exited with ${end.code}`)),
    unpack: (error) => failure(path, unpackSystemError(error as PackedSystemError)),
  });
}

/** The tables of a job whose folder is claimed. */
export function openTables(
  { spec, pipeline: only }: Pick<AcceptedJob, 'spec' | 'pipeline'>,
  { epoch, settled, failed, until }: TablesEvents,
): TablesOutput {
  const each = spec.pipelines ? jobParts(spec) : [{ name: '', pipeline: only }];
  const grid = jobGrid(spec);
  const growing = unfinishedTablesPath(spec.out, epoch);
  const files = newFilesPath(outputPath(spec.out), epoch);
  const pipelines = each.map(({ name, pipeline }) => ({
    name,
    paths: tablePaths((file) => join(files, ...(name === '' ? [] : ['pipelines', name]), file)),
    unfinished: tablePaths((file) => join(growing, name === '' ? file : `${name}-${file}`)),
    shape: histogramShape(pipeline, grid),
    line: jobLine(pipeline, grid),
  }));
  return new TablesFile({
    parts: partsPath(spec.out),
    growing,
    pipelines,
    settled,
    failed,
    until,
    captured: spec.captured,
  });
}

const aborted = new Error('features.parquet is not wanted any more');

const failure = (path: string, cause: Error): Error =>
  new Error(`'${path}' could not be written: ${cause.message}`, { cause });
