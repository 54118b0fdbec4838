import { join } from 'node:path';
import type { CaptureOptions } from '@halogrid/sources/captured';
import { SpareThread, ThreadClient } from '@halogrid/threads';
import { type AcceptedJob, jobGrid, jobParts } from '../job/accepted-job.ts';
import { type HistogramShape, histogramShape } from '../job/histogram-shape.ts';
import { newOutputPath, unfinishedFeaturesPath } from '../job/output-paths.ts';
import type { SettledSources } from '../ledger/ledger.ts';
import type { FeaturesEvents, FeaturesOutput } from './features-output.ts';

/** What the thread writes. */
export interface FeaturesTask {
  path: string;
  /** Where the file grows: in a folder that goes with the job, on the same file system. */
  unfinishedPath: string;
  shape: HistogramShape;
  /** How it is known when sources were captured; absent: by what files state. */
  captured?: CaptureOptions;
}

/** What the thread does next; it is given the next when it has answered. */
export type FeaturesOrder =
  | ({ kind: 'open' } & FeaturesTask)
  | ({ kind: 'write'; from: number } & Pick<SettledSources, 'file' | 'names' | 'done'>)
  | { kind: 'finish'; description: object };

export interface FeaturesFileOptions extends FeaturesTask {
  /** As Ledger has it, of one job. */
  settled(from: number, atMost: number): Promise<SettledSources>;
  /** Told once that the file cannot be written, with one sentence. */
  failed(error: Error): void;
  /** Who writes. */
  thread?: SpareThread;
}

/** For the next job that starts. */
export const featuresThread = new SpareThread(new URL('./features-worker.ts', import.meta.url));

/** Sources that an order names at most: a few hundred kilobytes of URIs. */
const orderSources = 4096;

/**
 * features.parquet of a job, written by a thread of its own while results come. Sources are written in order, as far as all
 * before them are done or quarantined; the thread reads their histograms from the ledger's file, and is given the next when
 * it is through, so that nothing piles up in memory, however late the first source is or however slow the thread. Measured:
 * 256 bins cost that thread 15 to 20 µs and this one 1 µs.
 *
 * The file grows in the scratch folder: whoever removes that removes what is left of a job that did not end well.
 */
export class FeaturesFile {
  readonly #options: FeaturesFileOptions;
  #thread: ThreadClient<FeaturesOrder, void> | undefined;
  /** Resolves when the file is there; undefined before the start. */
  #written: Promise<void> | undefined;
  /** How many sources the job has, once all are settled. */
  #sources: number | undefined;
  /** What the file says of itself, which the digest is part of; known with `#sources`. */
  #description: object = {};
  /** Resolved when there may be something to do. */
  #more = Promise.withResolvers<void>();
  /** Why the thread takes no more orders. */
  #stopped: Error | undefined;

  constructor(options: FeaturesFileOptions) {
    this.#options = options;
  }

  /** To be called when the first of the work is given out. */
  start(): void {
    if (this.#written) return;
    this.#written = this.#write();
    this.#written.catch((error: Error) => {
      if (error !== aborted) this.#options.failed(error);
    });
  }

  /** More sources may be settled. */
  advance(): void {
    this.#more.resolve();
  }

  /**
   * Every source of the job is settled, that many, and this is what the file says of itself. Resolves when the file is there;
   * rejects with one sentence.
   */
  async finish(sources: number, description: object): Promise<void> {
    this.#sources = sources;
    this.#description = description;
    this.start();
    this.advance();
    await this.#written;
  }

  /** Stops writing, for good. Resolves when the thread has ended. */
  async abort(): Promise<void> {
    this.#stop(aborted);
    await this.#thread?.terminate();
  }

  async #write(): Promise<void> {
    const { path, unfinishedPath, shape, captured, settled, thread = featuresThread } = this.#options;
    if (this.#stopped) throw this.#stopped;
    const client: ThreadClient<FeaturesOrder, void> = new ThreadClient(thread.take(), {
      ended: (end) => failure(path, 'error' in end ? end.error.message : `its thread exited with ${end.code}`),
      unpack: (message) => failure(path, String(message)),
    });
    this.#thread = client;
    void client.whenEnded.then((error) => this.#stop(error));
    await this.#order({ kind: 'open', path, unfinishedPath, shape, ...(captured && { captured }) });
    for (let from = 0; from !== this.#sources; ) {
      const areAllSettled = this.#sources !== undefined;
      const { next, names, done, file } = await settled(from, orderSources);
      if (next > from) await this.#order({ kind: 'write', from, file, names, done });
      if (next === from) {
        if (areAllSettled) throw failure(path, `the histograms of source ${from} are not there`);
        await this.#more.promise;
        this.#more = Promise.withResolvers();
        if (this.#stopped) throw this.#stopped;
      }
      from = next;
    }
    await this.#order({ kind: 'finish', description: this.#description });
    this.#thread = undefined;
    thread.give(client.release());
  }

  /** What fails ends the thread, which has half a file open. */
  async #order(order: FeaturesOrder): Promise<void> {
    if (this.#stopped) throw this.#stopped;
    try {
      await this.#thread!.order(order);
    } catch (error) {
      this.#stop(error as Error);
      void this.#thread!.terminate();
      throw this.#stopped;
    }
    if (this.#stopped) throw this.#stopped;
  }

  /** The first reason counts. */
  #stop(reason: Error): void {
    this.#stopped ??= reason;
    this.#more.resolve();
  }
}

/** features.parquet of each pipeline of a job that has a histogram. */
export class FeaturesFiles implements FeaturesOutput {
  /** By the place of the pipeline. */
  readonly #files: readonly (FeaturesFile | undefined)[];

  constructor(files: readonly (FeaturesFile | undefined)[]) {
    this.#files = files;
  }

  start(): void {
    for (const file of this.#files) file?.start();
  }

  advance(): void {
    for (const file of this.#files) file?.advance();
  }

  async finish(sources: number, descriptions: readonly object[]): Promise<void> {
    await Promise.all(this.#files.map((file, part) => file?.finish(sources, descriptions[part]!)));
  }

  async abort(): Promise<void> {
    await Promise.all(this.#files.map((file) => file?.abort()));
  }
}

/** features.parquet of a job whose folder is claimed; undefined where no pipeline has a histogram. */
export function openFeatures(
  { spec, pipeline: first }: Pick<AcceptedJob, 'spec' | 'pipeline'>,
  { settled, failed }: FeaturesEvents,
): FeaturesOutput | undefined {
  const parts = spec.pipelines ? jobParts(spec) : [{ name: '', pipeline: first }];
  if (parts.every(({ pipeline }) => pipeline.bins === 0)) return undefined;
  const files = parts.map(({ name, pipeline }, part) => {
    if (pipeline.bins === 0) return undefined;
    return new FeaturesFile({
      path: join(newOutputPath(spec.out, name), 'features.parquet'),
      unfinishedPath: unfinishedFeaturesPath(spec.out, name),
      shape: histogramShape(pipeline, jobGrid(spec)),
      ...(spec.captured && { captured: spec.captured }),
      settled: (from, atMost) => settled(from, atMost, part),
      failed,
    });
  });
  return new FeaturesFiles(files);
}

const aborted = new Error('features.parquet is not wanted any more');

const failure = (path: string, why: string): Error => new Error(`'${path}' could not be written: ${why}`);
