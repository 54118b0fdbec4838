import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CaptureOptions, CaptureRule } from '@halogrid/sources/captured';
import { SourceBlock } from '@halogrid/sources/source-block';
import { settleAll } from '@halogrid/threads';
import type { HistogramShape } from '../counts/histogram-shape.ts';
import { syncFolder } from '../files/atomic-file.ts';
import { type FoundShard, type ShardSummary, shardRows } from './found-shard.ts';
import { PipelineFiles } from './pipeline-files.ts';
import { PipelinePages } from './pipeline-pages.ts';
import { pipelinePaths, type ShardPlace } from './shard-place.ts';
import { sourceFacts } from './source-facts.ts';

/** A pipeline of a job. The name of a single pipeline does not matter. */
export interface PartPipeline {
  name: string;
  shape: HistogramShape;
}

/** The summary of a shard, and the places of its rows. */
export interface FoundInPart extends ShardSummary {
  /** ID of the part. */
  part: string;
  /** One place per pipeline. */
  places: ShardPlace[];
}

/**
 * Writes a part: a folder with the same files as an output, for the sources of some shards. The rows of a shard are
 * consecutive row groups, so that each shard can be read and checked alone. No ID is used twice, so two attempts never
 * write to one place. Holds one row group of each file in memory. Abort it after a failure.
 */
export class PartWriter {
  readonly id = randomUUID();
  readonly #folder: string;
  readonly #temporary: string;
  readonly #pipelines: readonly PartPipeline[];
  readonly #pages: readonly PipelinePages[];
  readonly #rule: CaptureRule;
  #files: PipelineFiles[] = [];
  #shards = 0;

  /**
   * Begins a part in `folder`, which is made if it is missing; the folder above it must exist. Leaves nothing if that
   * fails.
   */
  static async create(
    folder: string,
    pipelines: readonly PartPipeline[],
    captured?: CaptureOptions,
  ): Promise<PartWriter> {
    await makeFolder(folder);
    const pages = pipelines.map(({ shape }) => new PipelinePages(shape));
    return new PartWriter(folder, pipelines, pages, new CaptureRule(captured)).#begin();
  }

  private constructor(
    folder: string,
    pipelines: readonly PartPipeline[],
    pages: readonly PipelinePages[],
    rule: CaptureRule,
  ) {
    this.#folder = folder;
    this.#temporary = join(folder, `${this.id}.tmp`);
    this.#pipelines = pipelines;
    this.#pages = pages;
    this.#rule = rule;
  }

  /** Begins the next part once this one is finished, in the same folder and with the same memory. */
  next(): Promise<PartWriter> {
    return new PartWriter(this.#folder, this.#pipelines, this.#pages, this.#rule).#begin();
  }

  /** How many shards were added. */
  get shards(): number {
    return this.#shards;
  }

  /** How many bytes the rows of the added shards have. */
  get bytes(): number {
    return this.#files.reduce((sum, files) => sum + files.bytes, 0);
  }

  /** Adds a shard; one at a time. Rejects with RangeError if its arrays have wrong lengths. */
  async add(shard: FoundShard): Promise<FoundInPart> {
    const block = new SourceBlock(shard.block);
    const shapes = this.#pipelines.map(({ shape }) => shape);
    const rows = shardRows(shard, block, shapes);
    let next = rows.next();
    for (; !next.done; next = rows.next()) {
      const { part, nth, found } = next.value;
      const files = this.#files[part]!;
      files.add(sourceFacts(block, nth), found);
      if (files.isBehind) await files.write();
    }
    const places: ShardPlace[] = [];
    for (const files of this.#files) places.push(await files.endShard());
    this.#shards++;
    return { ...next.value, part: this.id, places };
  }

  /** Makes the part durable and names its folder by its ID. Leaves nothing if that fails. */
  async finish(): Promise<void> {
    try {
      await settleAll(this.#files.map((files) => files.finish()));
      const folders = this.#paths.map(({ folder }) => folder);
      if (folders.length > 1) folders.push(dirname(folders[0]!));
      await settleAll([...new Set([...folders, this.#temporary])].map(syncFolder));
      await rename(this.#temporary, join(this.#folder, this.id));
      await syncFolder(this.#folder);
    } catch (error) {
      await this.abort();
      throw error;
    }
  }

  /** Removes everything that was written, also after a failure. */
  async abort(): Promise<void> {
    await settleAll(this.#files.map((files) => files.abort()));
    await rm(this.#temporary, { recursive: true, force: true });
    await rm(join(this.#folder, this.id), { recursive: true, force: true });
  }

  async #begin(): Promise<this> {
    try {
      await mkdir(this.#temporary);
      for (const [i, paths] of this.#paths.entries()) {
        this.#files.push(await PipelineFiles.create(paths, this.#pages[i]!, this.#rule));
      }
    } catch (error) {
      await this.abort();
      throw error;
    }
    return this;
  }

  get #paths(): ReturnType<typeof pipelinePaths>[] {
    const names = this.#pipelines.map(({ name }) => name);
    return names.map((_, pipeline) => pipelinePaths(this.#temporary, names, pipeline));
  }
}

/** Makes a folder, unless another writer has just made it, and makes its name durable. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await syncFolder(dirname(path));
}
