import { type FileHandle, open } from 'node:fs/promises';
import { asyncBufferFromFile, parquetMetadataAsync, type SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { AtomicFile } from '../files/atomic-file.ts';
import { type EncodedGroup, encodeGroup, type RowsPage, shiftedGroup } from './encode-group.ts';
import { endBytes, footerParsers, parquetMark } from './footer-bytes.ts';
import { type FooterFacts, FooterGroups } from './footer-groups.ts';

/** A file that grows until it is committed or removed. */
export type GrowingFile = Pick<AtomicFile, 'handle' | 'commit' | 'abort'>;

/**
 * A Parquet file that is made of pages, which are appended as they are, and of a footer. It holds the footer's entry
 * for each row group, a kilobyte with ten columns, and 256 KiB of pages.
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

  /** How many row groups were appended. */
  get groups(): number {
    return this.#groups.length;
  }

  /** The byte at which the next row group begins. */
  get offset(): number {
    return this.#bytes.offset;
  }

  /** Appends a row group of pages. Returns its bytes, which are valid until the next row group. */
  append(pages: readonly RowsPage[]): Promise<Uint8Array> {
    return this.appendGroup(encodeGroup(this.#schema, pages));
  }

  /** Appends a row group. Returns its bytes, as `append` does. */
  async appendGroup({ group, pieces }: EncodedGroup): Promise<Uint8Array> {
    this.#groups.add(shiftedGroup(group, BigInt(this.#bytes.offset)));
    for (const bytes of pieces) this.#bytes.appendBytes(bytes);
    const bytes = this.#bytes.getBytes().subarray(-Number(group.total_compressed_size));
    if (this.#bytes.index >= pieceBytes) await this.#flush();
    return bytes;
  }

  /** A file at `path` that begins with the row groups from index `from` up to `to`, which is left out. */
  async copy(path: string, from: number, to: number): Promise<ParquetFile> {
    const copy = await ParquetFile.create(path, this.#schema);
    const groups = this.#groups.slice(from, to);
    if (groups.length === 0) return copy;
    await this.#flush();
    await copy.#flush();
    const start = Number(groups[0]!.columns[0]!.file_offset);
    const bytes = groups.reduce((sum, { total_compressed_size }) => sum + Number(total_compressed_size), 0);
    await copyBytes(this.#file.handle, start, bytes, copy.#file.handle).catch(async (error) => {
      await copy.abort();
      throw error;
    });
    const shift = BigInt(copy.#bytes.offset - start);
    for (const group of groups) copy.#groups.add(shiftedGroup(group, shift));
    copy.#bytes.offset += bytes;
    return copy;
  }

  /** Writes the footer, makes the file durable and gives it its name. Leaves nothing if that fails. */
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

  /** Removes everything that was written, also after a failure. */
  async abort(): Promise<void> {
    await this.#file.abort();
  }

  /** Writes the buffer to the file and empties it. The writer's `offset`, its position in the file, counts on. */
  async #flush(): Promise<void> {
    await this.#file.handle.writeFile(this.#bytes.getBytes());
    this.#bytes.index = 0;
  }
}

/**
 * Writers of finished files, which the next files use: a new writer leaves a megabyte of garbage as it grows. With new
 * writers for each part, V8 collected the whole heap twice as often (measured).
 */
const spareWriters: ByteWriter[] = [];

/**
 * Gives a whole file another footer with the same row groups. Until it returns, the file is damaged if the machine
 * stops.
 */
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

/** Bytes that are written or copied at once: a write for each row group would take as long as packing it. */
const pieceBytes = 2 ** 18;

/** Appends bytes of a file to another one. */
async function copyBytes(from: FileHandle, start: number, length: number, to: FileHandle): Promise<void> {
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, length));
  for (let copied = 0; copied < length; ) {
    const { bytesRead } = await from.read(piece, 0, Math.min(piece.length, length - copied), start + copied);
    if (bytesRead === 0) throw new Error('the file ends early');
    await to.writeFile(piece.subarray(0, bytesRead));
    copied += bytesRead;
  }
}
