import { crc32 } from 'node:zlib';
import type { RowsPage } from '../features/encode-group.ts';
import type { FooterFacts } from '../features/footer-groups.ts';
import { ParquetFile } from '../features/parquet-file.ts';
import { RowGroups } from '../features/row-groups.ts';
import { NewFile } from '../files/new-file.ts';
import type { FilePlace } from './shard-place.ts';

/** A file of a part that is being written. The end of a shard also ends a row group. */
export class PartFile<Page extends RowsPage> {
  readonly #file: ParquetFile;
  readonly #groups: RowGroups<Page>;
  /** Row groups that have ended. */
  readonly #ended: Page[][] = [];
  /** The present shard: its first row group, the byte at which it begins, and the checksum of its bytes so far. */
  #firstGroup = 0;
  #start: number;
  #checksum = 0;

  /** `isOfGroup` is passed to RowGroups. The folder of `path` must exist. */
  static async create<Page extends RowsPage>(
    path: string,
    schema: FooterFacts['schema'],
    isOfGroup: (group: readonly Page[], page: Page) => boolean,
  ): Promise<PartFile<Page>> {
    return new PartFile(new ParquetFile(await NewFile.create(path), schema), new RowGroups(isOfGroup));
  }

  private constructor(file: ParquetFile, groups: RowGroups<Page>) {
    this.#file = file;
    this.#groups = groups;
    this.#start = file.offset;
  }

  /** Bytes of the row groups so far. */
  get bytes(): number {
    return this.#file.offset;
  }

  /** Adds a page. Row groups that it completes are held until `write`. */
  add(page: Page): void {
    const ended = this.#groups.add(page);
    if (ended.length > 0) this.#ended.push(ended);
  }

  /** Whether there is something to write. */
  get isBehind(): boolean {
    return this.#ended.length > 0;
  }

  async write(): Promise<void> {
    for (const pages of this.#ended.splice(0)) this.#checksum = crc32(await this.#file.append(pages), this.#checksum);
  }

  /** Ends the shard of the added pages. Returns its place in the file. */
  async endShard(): Promise<FilePlace> {
    const ended = this.#groups.end();
    if (ended.length > 0) this.#ended.push(ended);
    await this.write();
    const { groups, offset } = this.#file;
    const [firstGroup, start, checksum] = [this.#firstGroup, this.#start, this.#checksum];
    this.#firstGroup = groups;
    this.#start = offset;
    this.#checksum = 0;
    return { firstGroup, groups: groups - firstGroup, start, length: offset - start, checksum };
  }

  /** Writes the footer and makes the content durable. */
  async finish(facts: FooterFacts): Promise<void> {
    await this.#file.finish(facts);
  }

  async abort(): Promise<void> {
    await this.#file.abort();
  }
}
