import { access, constants } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type AcceptedJob, jobGrid, jobParts } from '@halogrid/jobs/accepted-job';
import { newOutputPath, unfinishedTablePath } from '@halogrid/jobs/output-paths';
import type { SettledSources } from '@halogrid/ledger';
import { binsOfSource, histogramShape } from '@halogrid/results/histogram-shape';
import { jobLine } from '@halogrid/results/job-line';
import { type PackedSystemError, SpareThread, ThreadClient, unpackSystemError } from '@halogrid/threads';
import { LostPartError } from './lost-part-error.ts';
import type { UntilWritten } from './output-wait.ts';
import { type TablesAnswer, type TablesOrder, type TablesTask, tablePaths } from './tables-order.ts';
import type { PartSummary, TablesEvents, TablesOutput } from './tables-output.ts';
import { partsPath } from './write-part.ts';

type TablesThread = ThreadClient<TablesOrder, TablesAnswer>;

export interface TablesFileOptions extends TablesTask {
  /** As Ledger has it, of one job. */
  settled(from: number, atMost: number): Promise<SettledSources>;
  /** Told once that the tables cannot be written, with one sentence; with LostPartError where a part is lost. */
  failed(error: Error): void;
  /** Repeats writing the tables, from the beginning, until they are written. */
  until: UntilWritten;
  /** The thread that writes them, unless they are few. */
  thread?: SpareThread;
  /** Tables of at most so many bins are written by this thread: see `TablesFile`. */
  fewBins?: number;
}

/** For the next job that starts. */
export const tablesThread = new SpareThread(new URL('./tables-worker.ts', import.meta.url));

/** How many bins a source without a histogram counts as. */
const leastBins = 256;

/** The most sources in one order: as objects they take some two megabytes. */
const orderSources = 4096;

/**
 * The tables of a job: features.parquet, sources.jsonl and errors.jsonl of each pipeline, written by a thread while
 * results come. Sources are written in order, as far as all before them are done or quarantined; the thread reads them
 * from the job's parts, and is given the next when it is through, so that nothing piles up in memory, however late the
 * first source is or however slow the thread. If there is no room for them, another thread later writes them from the
 * beginning. A job with few sources has no such thread: to start one takes 50 ms of processor time (measured), and what
 * it would write is there in a few. Then they are written here once the job is settled.
 *
 * The tables grow in the scratch folder: with that goes what is left of a job that did not end well.
 */
export class TablesFile implements TablesOutput {
  readonly #options: TablesFileOptions;
  /** The name of the tables in errors. */
  readonly #path: string;
  /** Stops what writes; resolves when it has stopped. */
  #stop: (() => Promise<unknown>) | undefined;
  /** Resolves when the tables are there; undefined before the start. */
  #written: Promise<PartSummary[]> | undefined;
  /** How many sources the job has, once all are settled. */
  #sources: number | undefined;
  /** What each features.parquet says of itself beside its digest; known with `#sources`. */
  #descriptions: readonly object[] = [];
  /** Resolved when there may be something to do. */
  #more = Promise.withResolvers<void>();
  #isAborted = false;

  constructor(options: TablesFileOptions) {
    this.#options = options;
    const [{ paths, shape }] = options.pipelines as [TablesTask['pipelines'][number]];
    this.#path = shape.bins > 0 ? paths.features : paths.sources;
  }

  /** To be called when the first of the work is given out. */
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
   * Every source of the job is settled, that many. Resolves, with a summary a pipeline, when the tables are there;
   * rejects with one sentence, with LostPartError where a part is lost.
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
    // Nothing that is computed meanwhile could be written.
    const [{ unfinished }] = this.#options.pipelines as [TablesTask['pipelines'][number]];
    await access(dirname(unfinished.sources), constants.W_OK).catch((error: Error) => {
      throw failure(this.#path, error);
    });
    const areFew = await this.#areFew();
    if (this.#isAborted) throw aborted;
    return areFew ? this.#writeHere() : this.#writeByThread();
  }

  /** Whether the job ends with tables that are sooner written than a thread starts; waits until that is known. */
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
    const { TablesWriter } = await import('./tables-writer.ts');
    const writer = new TablesWriter();
    const obey = (order: TablesOrder) =>
      writer.obey(order).catch((error: Error) => {
        throw failure(this.#path, error);
      });
    const fill = this.#fill(obey).catch(async (error) => {
      await writer.abort();
      throw this.#isAborted ? aborted : error;
    });
    this.#stop = () => fill.catch(() => {});
    return fill;
  }

  async #writeByThread(): Promise<PartSummary[]> {
    const { thread = tablesThread } = this.#options;
    const path = this.#path;
    const client: TablesThread = new ThreadClient(thread.take(), {
      ended: (end) => failure(path, 'error' in end ? end.error : new Error(`its thread exited with ${end.code}`)),
      unpack: (error) => failure(path, unpackSystemError(error as PackedSystemError)),
    });
    this.#stop = () => client.terminate();
    void client.whenEnded.then(() => this.#more.resolve());
    try {
      const summary = await this.#fill((order) => client.order(order), client);
      thread.give(client.release());
      return summary;
    } catch (error) {
      // The thread has an unfinished file open.
      void client.terminate();
      throw this.#isAborted ? aborted : error;
    } finally {
      this.#stop = undefined;
    }
  }

  /** Gives what writes one order after another, until the tables are there. */
  async #fill(give: (order: TablesOrder) => Promise<TablesAnswer>, thread?: TablesThread): Promise<PartSummary[]> {
    const { parts, pipelines, captured, limits, settled } = this.#options;
    const order = async (next: TablesOrder): Promise<PartSummary[]> => {
      const answer = await give(next);
      if (this.#isAborted) throw aborted;
      if (answer?.kind === 'lost') throw new LostPartError(answer.lost);
      return answer?.summaries ?? [];
    };
    await order({
      ...{ kind: 'open', parts, pipelines },
      ...(captured && { captured }),
      ...(limits && { limits }),
    });
    for (let from = 0; from !== this.#sources; ) {
      const areAllSettled = this.#sources !== undefined;
      const { next, runs } = await settled(from, orderSources);
      if (next > from) await order({ kind: 'write', runs });
      else if (areAllSettled) throw failure(this.#path, new Error(`what was found of source ${from} is not there`));
      else {
        await this.#waitForMore();
        if (this.#isAborted) throw aborted;
        if (thread?.hasEnded) throw await thread.whenEnded;
      }
      from = next;
    }
    return order({ kind: 'finish', sources: this.#sources!, descriptions: this.#descriptions });
  }

  async #waitForMore(): Promise<void> {
    await this.#more.promise;
    this.#more = Promise.withResolvers();
  }
}

/** The tables of a job whose folder is claimed. */
export function openTables(
  { spec, pipeline: only }: Pick<AcceptedJob, 'spec' | 'pipeline'>,
  { settled, failed, until }: TablesEvents,
): TablesOutput {
  const each = spec.pipelines ? jobParts(spec) : [{ name: '', pipeline: only }];
  const grid = jobGrid(spec);
  const pipelines = each.map(({ name, pipeline }) => ({
    name,
    paths: tablePaths((file) => join(newOutputPath(spec.out, name), file)),
    unfinished: tablePaths((file) => unfinishedTablePath(spec.out, file, name)),
    shape: histogramShape(pipeline, grid),
    line: jobLine(pipeline, grid),
  }));
  return new TablesFile({
    ...{ parts: partsPath(spec.out), pipelines, settled, failed, until },
    ...(spec.captured && { captured: spec.captured }),
  });
}

const aborted = new Error('features.parquet is not wanted any more');

const failure = (path: string, cause: Error): Error =>
  new Error(`'${path}' could not be written: ${cause.message}`, { cause });
