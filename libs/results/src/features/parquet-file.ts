import { type FileHandle, open } from 'node:fs/promises';
import { asyncBufferFromFile, type ColumnChunk, parquetMetadataAsync, type SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { AtomicFile } from '../files/atomic-file.ts';
import { type ColumnLeaf, columnLeaves } from './column-leaves.ts';
import type { ColumnPage, Limits } from './column-page.ts';
import { endBytes, footerParsers, parquetMark } from './footer-bytes.ts';
import { type FooterFacts, FooterGroups } from './footer-groups.ts';

/** A file that grows, until it is durable under its name or removed. */
export type GrowingFile = Pick<AtomicFile, 'handle' | 'commit' | 'abort'>;

/** The pages of all columns that have the same rows. */
export interface RowsPage {
  rows: number;
  columns: readonly ColumnPage[];
}

/**
 * A Parquet file that is made of pages, which are appended as they are, and ended with a footer. Holds what the footer says of each row group,
 * a kilobyte with ten columns, and pages of 256 KiB.
 */
export class ParquetFile {
  readonly #file: GrowingFile;
  readonly #bytes = spareWriters.pop() ?? new ByteWriter();
  readonly #schema: SchemaElement[];
  readonly #groups: FooterGroups;

  /** The folder of `path` must exist. */
  static async create(path: string, schema: SchemaElement[]): Promise<ParquetFile> {
    return new ParquetFile(await AtomicFile.create(path), schema);
  }

  /** Takes over an empty file. */
  constructor(file: GrowingFile, schema: SchemaElement[]) {
    this.#file = file;
    this.#schema = schema;
    this.#groups = new FooterGroups(schema);
    this.#bytes.appendBytes(parquetMark);
  }

  /** Row groups that were appended. */
  get groups(): number {
    return this.#groups.length;
  }

  /** Where the next row group begins. */
  get offset(): number {
    return this.#bytes.offset;
  }

  /** Appends a row group of pages. Returns its bytes, which stay as they are until the next. */
  async append(pages: readonly RowsPage[]): Promise<Uint8Array> {
    const start = this.#bytes.offset;
    const columns = columnLeaves(this.#schema).map((leaf, i) =>
      this.#appendColumn(
        leaf,
        pages.map((page) => page.columns[i]!),
      ),
    );
    const num_rows = BigInt(sumOf(pages, ({ rows }) => rows));
    const total_byte_size = columns.reduce((sum, { meta_data }) => sum + meta_data!.total_uncompressed_size, 0n);
    const total_compressed_size = BigInt(this.#bytes.offset - start);
    this.#groups.add({ columns, total_byte_size, total_compressed_size, num_rows });
    const bytes = this.#bytes.getBytes().subarray(-Number(total_compressed_size));
    if (this.#bytes.index >= pieceBytes) await this.#flush();
    return bytes;
  }

  /** A file at `path` that begins with some of the row groups, from number `from` up to `to`, which is left out. */
  async copy(path: string, from: number, to: number): Promise<ParquetFile> {
    const copy = await ParquetFile.create(path, this.#schema);
    const groups = this.#groups.slice(from, to);
    if (groups.length === 0) return copy;
    await this.#flush();
    await copy.#flush();
    const start = Number(groups[0]!.columns[0]!.file_offset);
    const bytes = sumOf(groups, ({ total_compressed_size }) => Number(total_compressed_size));
    await copyBytes(this.#file.handle, start, bytes, copy.#file.handle).catch(async (error) => {
      await copy.abort();
      throw error;
    });
    const shift = BigInt(copy.#bytes.offset - start);
    for (const group of groups) {
      const columns = group.columns.map(({ file_offset, meta_data }) => {
        const data_page_offset = meta_data!.data_page_offset + shift;
        return { file_offset: file_offset + shift, meta_data: { ...meta_data!, data_page_offset } };
      });
      copy.#groups.add({ ...group, columns });
    }
    copy.#bytes.offset += bytes;
    return copy;
  }

  /** Writes the footer, makes the file durable and gives it its name. Leaves nothing where that fails. */
  async finish(facts: FooterFacts): Promise<void> {
    try {
      this.#bytes.appendBytes(this.#groups.footer(facts));
      await this.#flush();
    } catch (error) {
      await this.#file.abort();
      throw error;
    }
    await this.#file.commit();
    this.#bytes.offset = 0;
    spareWriters.push(this.#bytes);
  }

  /** Removes what was written, also after a failure. */
  async abort(): Promise<void> {
    await this.#file.abort();
  }

  #appendColumn({ path, type }: ColumnLeaf, pages: ColumnPage[]): ColumnChunk {
    const start = this.#bytes.offset;
    for (const { bytes } of pages) this.#bytes.appendBytes(bytes);
    const limits = pages.map((page) => page.limits).reduce(wider);
    const nulls = sumOf(pages, (page) => page.nulls);
    return {
      meta_data: {
        type,
        encodings: [
          ...new Set(pages.flatMap(({ encoding, hasLevels }) => (hasLevels ? ([encoding, 'RLE'] as const) : encoding))),
        ],
        path_in_schema: path,
        codec: pages.some(({ isCompressed }) => isCompressed) ? 'SNAPPY' : 'UNCOMPRESSED',
        num_values: BigInt(sumOf(pages, ({ values }) => values)),
        total_compressed_size: BigInt(this.#bytes.offset - start),
        total_uncompressed_size: BigInt(sumOf(pages, ({ plainBytes }) => plainBytes)),
        data_page_offset: BigInt(start),
        statistics: {
          ...(limits && { min_value: limits.least, max_value: limits.largest }),
          null_count: BigInt(nulls),
        },
      },
      file_offset: BigInt(start),
    };
  }

  /** The writer's `offset`, which goes into the file, counts on; its buffer starts again. */
  async #flush(): Promise<void> {
    await this.#file.handle.writeFile(this.#bytes.getBytes());
    this.#bytes.index = 0;
  }
}

/**
 * Those of files that are finished, which the next files use: as they grow they leave a megabyte behind. With new ones for each part V8
 * collected all of the heap twice as often (measured).
 */
const spareWriters: ByteWriter[] = [];

/** Gives a whole file another footer, which says the same of its row groups. It is not durable before its next change of name. */
export async function replaceFooter(path: string, facts: FooterFacts): Promise<void> {
  const buffer = await asyncBufferFromFile(path);
  const { schema, row_groups, metadata_length } = await parquetMetadataAsync(buffer, { parsers: footerParsers });
  const groups = new FooterGroups(schema);
  for (const group of row_groups) groups.add(group);
  const file = await open(path, 'a');
  try {
    await file.truncate(buffer.byteLength - metadata_length - endBytes);
    await file.writeFile(groups.footer(facts));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The limits of both. */
function wider(one: Limits | undefined, other: Limits | undefined): Limits | undefined {
  if (!one || !other) return one ?? other;
  return {
    least: isLess(other.least, one.least) ? other.least : one.least,
    largest: isLess(one.largest, other.largest) ? other.largest : one.largest,
  };
}

function isLess(one: Limits['least'], other: Limits['least']): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) < 0;
  return one < other || (Object.is(one, -0) && Object.is(other, 0));
}

const sumOf = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0);

/** Bytes that are written or copied at once: a write for each row group would take as long as packing it. */
const pieceBytes = 2 ** 18;

/** Copies bytes of a file behind what is in another one. */
async function copyBytes(from: FileHandle, start: number, length: number, to: FileHandle): Promise<void> {
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, length));
  for (let copied = 0; copied < length; ) {
    const { bytesRead } = await from.read(piece, 0, Math.min(piece.length, length - copied), start + copied);
    if (bytesRead === 0) throw new Error('the file ends early');
    await to.writeFile(piece.subarray(0, bytesRead));
    copied += bytesRead;
  }
}
