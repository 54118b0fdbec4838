import { crc32 } from 'node:zlib';
import { varintsLength, writeVarints } from '@halogrid/proto/varints';
import { BlockError, BlockInput } from './block-input.ts';
import type { Column, ColumnWriter } from './column.ts';

export { bytes, doubles, marks, steps, texts, uints } from './column.ts';

export interface BlockLimits {
  /** What messages call a block, such as "A block of sources". */
  what: string;
  /** The byte behind the checksum, which says what columns follow; one more if the added ones do. */
  format: number;
  maxRows: number;
  /** The most bytes of all texts of a block, written out: few bytes may stand for long texts that differ by little. */
  maxTextBytes: number;
}

type Columns = Record<string, Column<ColumnWriter<never>, unknown>>;
type WriterOf<Each> = Each extends Column<infer Writer, unknown> ? Writer : never;
type ReaderOf<Each> = Each extends Column<unknown, infer Reader> ? Reader : never;
type Writers<All extends Columns> = { readonly [Name in keyof All]: WriterOf<All[Name]> };
type Readers<All extends Columns> = { readonly [Name in keyof All]: ReaderOf<All[Name]> };

/** Collects rows. Each column takes a value if the row has one. */
export interface BlockWriter<All extends Columns> {
  readonly columns: Writers<All>;
  readonly rows: number;
  /** Bytes of the texts so far, and of values that are bytes, as they are stored. */
  readonly textBytes: number;
  /** Begins the next row and returns its number. Throws RangeError if the block is full. */
  begin(): number;
  pack(): Uint8Array;
}

const checksumBytes = 4;

/**
 * A block of columns, which is checked once, when it is read:
 *
 *     checksum      CRC-32 of all that follows, little-endian
 *     format        a byte
 *     rows          a varint
 *     columns       one after another, in the order of the schema; see column.ts
 *
 * `every` are columns with a value in each row; in `some`, rows may be without one. `added` are such columns, too,
 * which earlier versions do not know: they are written only if a row has a value.
 */
export function columns<Every extends Columns, Some extends Columns, Added extends Columns = Record<never, never>>(
  { what, format, maxRows, maxTextBytes }: BlockLimits,
  every: Every,
  some: Some,
  added: Added = {} as Added,
): {
  writer(): BlockWriter<Every & Some & Added>;
  /** Takes time by the number of rows. Throws BlockError. */
  read(block: Uint8Array): { rows: number } & Readers<Every & Some & Added>;
} {
  return {
    writer() {
      const texts = { storedBytes: 0, writtenBytes: 0 };
      const wide = Object.entries(every).map(([name, column]) => [name, column.writer(texts)] as const);
      const sparse = Object.entries(some).map(([name, column]) => [name, column.writer(texts)] as const);
      const later = Object.entries(added).map(([name, column]) => [name, column.writer(texts)] as const);
      let rows = 0;
      return {
        columns: Object.fromEntries([...wide, ...sparse, ...later]) as unknown as Writers<Every & Some & Added>,
        get rows() {
          return rows;
        },
        get textBytes() {
          return texts.storedBytes;
        },
        begin() {
          if (rows >= maxRows || texts.writtenBytes > maxTextBytes) throw new RangeError(`${what} is full`);
          return rows++;
        },
        pack() {
          if (texts.writtenBytes > maxTextBytes) throw new RangeError(`${what} is full`);
          const parts: (ArrayLike<number> | Uint8Array)[] = [[rows]];
          for (const [, column] of wide) parts.push(...column.values());
          const hasAdded = later.some(([, column]) => column.places(rows)[0]! > 0);
          for (const [, column] of hasAdded ? [...sparse, ...later] : sparse) {
            parts.push(column.places(rows), ...column.values());
          }
          return seal(format + Number(hasAdded), parts);
        },
      };
    },
    read(block) {
      const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
      if (bytes.length <= checksumBytes || bytes.readUInt32LE() !== crc32(bytes.subarray(checksumBytes))) {
        throw new BlockError(`${what} is damaged: its checksum differs`);
      }
      const hasAdded = bytes[checksumBytes] === format + 1 && Object.keys(added).length > 0;
      if (bytes[checksumBytes] !== format && !hasAdded) {
        throw new BlockError(`${what} has the format ${bytes[checksumBytes]}, not ${format}`);
      }
      const input = new BlockInput(bytes, checksumBytes + 1, what, maxTextBytes);
      const [rows] = input.numbers(1) as unknown as [number];
      if (rows > maxRows) throw new BlockError(`${what} has ${rows} rows, more than ${maxRows}`);
      const read: Record<string, unknown> = { rows };
      for (const [name, column] of Object.entries(every)) read[name] = column.read(input, rows);
      for (const [name, column] of Object.entries(some)) {
        const present = input.present(rows);
        read[name] = column.read(input, present.count, present.nth);
      }
      const nothing = rows > 0 ? new Int32Array(rows).fill(-1) : undefined;
      for (const [name, column] of Object.entries(added)) {
        const present = hasAdded ? input.present(rows) : { count: 0, nth: nothing };
        read[name] = column.read(input, present.count, present.nth);
      }
      input.end();
      return read as { rows: number } & Readers<Every & Some & Added>;
    },
  };
}

/** Numbers as varints, and bytes as they are. */
function seal(format: number, parts: readonly (ArrayLike<number> | Uint8Array)[]): Uint8Array {
  const length = parts.reduce(
    (sum, part) => sum + (part instanceof Uint8Array ? part.length : varintsLength(part)),
    checksumBytes + 1,
  );
  const bytes = Buffer.allocUnsafeSlow(length);
  bytes[checksumBytes] = format;
  let at = checksumBytes + 1;
  for (const part of parts) {
    if (part instanceof Uint8Array) {
      bytes.set(part, at);
      at += part.length;
    } else at = writeVarints(part, bytes, at);
  }
  bytes.writeUInt32LE(crc32(bytes.subarray(checksumBytes)));
  return bytes;
}
