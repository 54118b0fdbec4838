import { join } from 'node:path';
import type { FileLimits } from '@halogrid/results/features';
import { listNames } from '@halogrid/results/source-list';
import type { CaptureOptions } from '@halogrid/sources/captured';
import { type PackedError, SpareThread, ThreadClient, unpackSystemError } from '@halogrid/threads';
import { type AcceptedJob, jobGrid, jobParts } from '../job/accepted-job.ts';
import { type HistogramShape, histogramShape } from '../job/histogram-shape.ts';
import { newOutputPath, unfinishedTablePath } from '../job/output-paths.ts';
import type { SettledSources } from '../ledger/ledger.ts';
import type { UntilWritten } from './output-wait.ts';
import type { PartSummary, TablesEvents, TablesOutput } from './tables-output.ts';

/** Paths of the tables of a pipeline. */
export interface TablePaths {
  features: string;
  /** The list of sources, as lines or, of very many, as rows. */
  sources: string;
  rows: string;
  errors: string;
}

/** The tables in a folder, by what they are called there. */
export const tablePaths = (pathOf: (file: string) => string): TablePaths => ({
  features: pathOf('features.parquet'),
  sources: pathOf(listNames.lines),
  rows: pathOf(listNames.rows),
  errors: pathOf('errors.jsonl'),
});

/** What the thread writes. */
export interface TablesTask {
  paths: TablePaths;
  /** Where the tables grow: in a folder that goes with the job, on the same file system. */
  unfinished: TablePaths;
  shape: HistogramShape;
  /** How it is known when sources were captured; absent: by what files state. */
  captured?: CaptureOptions;
  /** How many counts a file and how many lines a list has at most; as docs/outputs.md says unless given. */
  limits?: FileLimits & { lines: number };
}

/** What the thread does next; it is given the next when it has answered. */
export type TablesOrder =
  | ({ kind: 'open' } & TablesTask)
  | ({ kind: 'write' } & Pick<SettledSources, 'runs' | 'file'>)
  | { kind: 'finish'; sources: number; description: object; named: readonly number[] };

type TablesThread = ThreadClient<TablesOrder, PartSummary | undefined>;

export interface TablesFileOptions extends TablesTask {
  /** As Ledger has it, of one job. */
  settled(from: number, atMost: number): Promise<SettledSources>;
  /** Told once that the tables cannot be written, with one sentence. */
  failed(error: Error): void;
  /** Repeats writing the tables, from the beginning, until they are written. */
  until: UntilWritten;
  /** Who writes. */
  thread?: SpareThread;
}

/** For the next job that starts. */
export const tablesThread = new SpareThread(new URL('./tables-worker.ts', import.meta.url));

/** Sources that an order is of at most: as objects they take some two megabytes. */
const orderSources = 4096;

/**
 * The tables of a pipeline, features.parquet, sources.jsonl and errors.jsonl, written by a thread of its own while results come. Sources
 * are written in order, as far as all before them are done or quarantined; the thread reads their histograms from the ledger's file, and
 * is given the next when it is through, so that nothing piles up in memory, however late the first source is or however slow the thread.
 * If there is no room for them, another thread later writes them from the beginning.
 *
 * The tables grow in the scratch folder: whoever removes that removes what is left of a job that did not end well.
 */
export class TablesFile {
  readonly #options: TablesFileOptions;
  /** By which failures name the tables. */
  readonly #path: string;
  #thread: TablesThread | undefined;
  /** Resolves when the tables are there; undefined before the start. */
  #written: Promise<PartSummary> | undefined;
  /** How many sources the job has, once all are settled. */
  #sources: number | undefined;
  /** What the file of histograms says of itself, which the digest is part of, and whose names are wanted; known with `#sources`. */
  #end: { description: object; named: readonly number[] } = { description: {}, named: [] };
  /** Resolved when there may be something to do. */
  #more = Promise.withResolvers<void>();
  #isAborted = false;

  constructor(options: TablesFileOptions) {
    this.#options = options;
    const { paths, shape } = options;
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
   * Every source of the job is settled, that many, and this is what features.parquet says of itself. Resolves when the tables are
   * there; rejects with one sentence.
   */
  async finish(sources: number, description: object, named: readonly number[] = []): Promise<PartSummary> {
    this.#sources = sources;
    this.#end = { description, named };
    this.start();
    this.advance();
    return this.#written!;
  }

  /** Stops writing, for good. Resolves when the thread has ended. */
  async abort(): Promise<void> {
    this.#isAborted = true;
    this.#more.resolve();
    await this.#thread?.terminate();
  }

  async #write(): Promise<PartSummary> {
    const { paths, unfinished, shape, captured, limits, settled, thread = tablesThread } = this.#options;
    const path = this.#path;
    if (this.#isAborted) throw aborted;
    const client: TablesThread = new ThreadClient(thread.take(), {
      ended: (end) => failure(path, 'error' in end ? end.error : new Error(`its thread exited with ${end.code}`)),
      unpack: (error) => failure(path, unpackSystemError(error as PackedError)),
    });
    this.#thread = client;
    void client.whenEnded.then(() => this.#more.resolve());
    try {
      await this.#order(client, {
        ...{ kind: 'open', paths, unfinished, shape },
        ...(captured && { captured }),
        ...(limits && { limits }),
      });
      for (let from = 0; from !== this.#sources; ) {
        const areAllSettled = this.#sources !== undefined;
        const { next, runs, file } = await settled(from, orderSources);
        if (next > from) await this.#order(client, { kind: 'write', runs, file });
        else if (areAllSettled) throw failure(path, new Error(`the histograms of source ${from} are not there`));
        else await this.#waitForMore(client);
        from = next;
      }
      const summary = await this.#order(client, { kind: 'finish', sources: this.#sources!, ...this.#end });
      thread.give(client.release());
      return summary!;
    } catch (error) {
      // The thread has an unfinished file open.
      void client.terminate();
      throw this.#isAborted ? aborted : error;
    } finally {
      this.#thread = undefined;
    }
  }

  async #order(client: TablesThread, order: TablesOrder): Promise<PartSummary | undefined> {
    const summary = await client.order(order);
    if (this.#isAborted) throw aborted;
    return summary;
  }

  async #waitForMore(client: TablesThread): Promise<void> {
    await this.#more.promise;
    this.#more = Promise.withResolvers();
    if (this.#isAborted) throw aborted;
    if (client.hasEnded) throw await client.whenEnded;
  }
}

/** The tables of each pipeline of a job. */
export class JobTables implements TablesOutput {
  /** By the place of the pipeline. */
  readonly #parts: readonly TablesFile[];

  constructor(parts: readonly TablesFile[]) {
    this.#parts = parts;
  }

  start(): void {
    for (const part of this.#parts) part.start();
  }

  advance(): void {
    for (const part of this.#parts) part.advance();
  }

  async finish(sources: number, descriptions: readonly object[], named: readonly number[]): Promise<PartSummary[]> {
    return Promise.all(this.#parts.map((part, i) => part.finish(sources, descriptions[i]!, named)));
  }

  async abort(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.abort()));
  }
}

/** The tables of a job whose folder is claimed. */
export function openTables(
  { spec, pipeline: only }: Pick<AcceptedJob, 'spec' | 'pipeline'>,
  { settled, failed, until }: TablesEvents,
): TablesOutput {
  const parts = spec.pipelines ? jobParts(spec) : [{ name: '', pipeline: only }];
  const files = parts.map(({ name, pipeline }, part) => {
    return new TablesFile({
      paths: tablePaths((file) => join(newOutputPath(spec.out, name), file)),
      unfinished: tablePaths((file) => unfinishedTablePath(spec.out, file, name)),
      shape: histogramShape(pipeline, jobGrid(spec)),
      ...(spec.captured && { captured: spec.captured }),
      settled: (from, atMost) => settled(from, atMost, part),
      failed,
      until,
    });
  });
  return new JobTables(files);
}

const aborted = new Error('features.parquet is not wanted any more');

const failure = (path: string, cause: Error): Error =>
  new Error(`'${path}' could not be written: ${cause.message}`, { cause });
