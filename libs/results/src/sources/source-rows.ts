import type { EncodedGroup } from '../features/encode-group.ts';
import { ParquetFile } from '../features/parquet-file.ts';
import { SourceGroups } from './source-groups.ts';
import { headKey, type SourceLine } from './source-line.ts';
import { sourceSchema } from './source-pages.ts';

/** Writes sources.parquet, with a row per source, in order. Holds one row group. */
export class SourceRows {
  readonly #file: ParquetFile;
  readonly #head: object;
  readonly #groups = new SourceGroups();

  /** `head` is the head of the list (see list-head.ts). The folder of `path` must exist. */
  static async create(path: string, head: object): Promise<SourceRows> {
    return new SourceRows(await ParquetFile.create(path, sourceSchema), head);
  }

  private constructor(file: ParquetFile, head: object) {
    this.#file = file;
    this.#head = head;
  }

  /** Adds the next source. If it returns a promise, await that before the next call. */
  add(line: SourceLine): Promise<unknown> | undefined {
    const group = this.#groups.add(line);
    return group && this.#file.appendGroup(group);
  }

  /** Adds the next sources as a row group. It also ends the row group of sources that were added before. */
  async append(group: EncodedGroup): Promise<void> {
    await this.#end();
    await this.#file.appendGroup(group);
  }

  /** Makes the file durable and gives it its name. */
  async finish(): Promise<void> {
    await this.#end();
    await this.#file.finish({ schema: sourceSchema, about: { [headKey]: JSON.stringify(this.#head) } });
  }

  async abort(): Promise<void> {
    await this.#file.abort();
  }

  async #end(): Promise<void> {
    for (const group of this.#groups.end()) await this.#file.appendGroup(group);
  }
}
