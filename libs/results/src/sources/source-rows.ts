import type { RowsPage } from '../features/encode-group.ts';
import { ParquetFile } from '../features/parquet-file.ts';
import { RowGroups } from '../features/row-groups.ts';
import { headKey, type SourceLine } from './source-line.ts';
import { groupPages, SourcePages, sourceSchema } from './source-pages.ts';

/** Writes the list of a job's sources as rows of Parquet, one a source and in order. Memory is a row group. */
export class SourceRows {
  readonly #file: ParquetFile;
  readonly #head: object;
  readonly #pages = new SourcePages();
  readonly #groups = new RowGroups<RowsPage>((group) => group.length < groupPages);

  /** `head` is what the list says of itself. The folder of `path` must exist. */
  static async create(path: string, head: object): Promise<SourceRows> {
    return new SourceRows(await ParquetFile.create(path, sourceSchema), head);
  }

  private constructor(file: ParquetFile, head: object) {
    this.#file = file;
    this.#head = head;
  }

  /** The next source. What it returns is to be waited for before the next; undefined for nothing. */
  add(line: SourceLine): Promise<void> | undefined {
    const page = this.#pages.add(line);
    return page && this.#append(this.#groups.add(page));
  }

  /** Makes the file durable and gives it its name. */
  async finish(): Promise<void> {
    const page = this.#pages.end();
    if (page) await this.#append(this.#groups.add(page));
    await this.#append(this.#groups.end());
    await this.#file.finish({ schema: sourceSchema, about: { [headKey]: JSON.stringify(this.#head) } });
  }

  async abort(): Promise<void> {
    await this.#file.abort();
  }

  async #append(pages: RowsPage[]): Promise<void> {
    if (pages.length > 0) await this.#file.append(pages);
  }
}
