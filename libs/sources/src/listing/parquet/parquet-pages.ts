import type { ColumnMetaData, Compressors } from 'hyparquet';
import { decompressPage } from 'hyparquet/src/datapage.js';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { PageBody } from './page-body.ts';
import { mostChunkBytes, type SchemaField } from './parquet-bounds.ts';
import { DamagedError, readThriftStruct, type ThriftStruct } from './thrift-struct.ts';

/** Numbers from the definition of the format. */
const kinds = { data: 0n, dictionary: 2n, dataV2: 3n } as const;
const encodings = {
  oldDictionary: 2n,
  runs: 3n,
  differences: 5n,
  lengthDifferences: 6n,
  textDifferences: 7n,
  dictionary: 8n,
} as const;

/** The most values of a block of differences; writers use 128. */
const mostBlockValues = 2 ** 20;
/** The most bytes of a text that continues the one before it. Manifests need no longer one. */
const mostTextBytes = 2 ** 16;

/** A column of a row group, with one value a row. */
export interface PagedColumn {
  field: SchemaField;
  codec: ColumnMetaData['codec'];
  rows: number;
  compressors: Compressors;
}

/**
 * Checks the pages of a column: the sizes and counts in headers and runs, which decide how much memory a reader takes
 * and how often its loops repeat. Throws DamagedError for impossible ones. Returns where the last page ends.
 */
export function checkPages(bytes: Uint8Array, column: PagedColumn): number {
  let at = 0;
  let rows = 0;
  let unpackedBytes = 0;
  while (rows < column.rows) {
    if (at >= bytes.length - 1) throw new DamagedError('a column of it ends before its last row');
    const { value: header, end } = readThriftStruct(bytes, at);
    const packed = numberOf(header, 3);
    unpackedBytes += numberOf(header, 2);
    if (unpackedBytes > mostChunkBytes) {
      throw new DamagedError(`a column of it unpacks to more than ${mostChunkBytes} bytes`);
    }
    if (packed > bytes.length - end) throw new DamagedError('a page of it is longer than its column');
    at = end + packed;
    rows += checkPage(header, bytes.subarray(end, at), { ...column, rows: column.rows - rows });
  }
  return at;
}

/** Returns the number of rows that the page adds. `column.rows` are still missing. */
function checkPage(header: ThriftStruct, packed: Uint8Array, column: PagedColumn): number {
  if (header[1] === kinds.dictionary) {
    // A value has a byte or more.
    if (numberOf(structOf(header, 7), 1) > numberOf(header, 2)) {
      throw new DamagedError('a dictionary of it is larger than its page');
    }
    return 0;
  }
  if (header[1] === kinds.data) return checkData(header, structOf(header, 5), packed, column);
  if (header[1] === kinds.dataV2) return checkDataV2(header, structOf(header, 8), packed, column);
  throw new DamagedError('it has a page of an unknown kind');
}

function checkData(header: ThriftStruct, page: ThriftStruct, packed: Uint8Array, column: PagedColumn): number {
  const count = countOf(page, column);
  const body = new PageBody(decompressPage(packed, numberOf(header, 2), column.codec, column.compressors));
  const isOptional = column.field.repetition_type === 'OPTIONAL';
  const there = isOptional ? checkLevels(new PageBody(body.skip(body.uint32())), count) : count;
  checkValues(page[2], body, there, column);
  return count;
}

function checkDataV2(header: ThriftStruct, page: ThriftStruct, packed: Uint8Array, column: PagedColumn): number {
  const count = countOf(page, column);
  const [repetitions, levels] = [numberOf(page, 6), numberOf(page, 5)];
  const front = new PageBody(packed);
  front.skip(repetitions);
  const levelBody = new PageBody(front.skip(levels));
  const isOptional = column.field.repetition_type === 'OPTIONAL';
  const there = isOptional ? checkLevels(levelBody, count) : count;
  if (numberOf(page, 3) !== count || numberOf(page, 2) !== count - there) {
    throw new DamagedError('a page of it has other values than it says');
  }
  const rest = packed.subarray(front.at);
  const unpacked = numberOf(header, 2) - front.at;
  const body = page[7] === false ? rest : decompressPage(rest, unpacked, column.codec, column.compressors);
  checkValues(page[4], new PageBody(body), there, column);
  return count;
}

function countOf(page: ThriftStruct, { rows }: PagedColumn): number {
  const count = numberOf(page, 1);
  if (count > rows) throw new DamagedError('a column of it has more values than rows');
  return count;
}

/** Returns how many of the values are not null. */
function checkLevels(body: PageBody, count: number): number {
  let there = 0;
  checkRuns(body, 1, count, (value, times) => {
    there += value * times;
  });
  return there;
}

function checkValues(encoding: unknown, body: PageBody, count: number, { field }: PagedColumn): void {
  switch (encoding) {
    case encodings.oldDictionary:
    case encodings.dictionary: {
      const width = count > 0 || body.at < body.bytes.length ? body.byte() : 0;
      if (width > 32) throw new DamagedError('a page of it has indices of more than 32 bits');
      if (width > 0) checkRuns(body, width, count);
      break;
    }
    case encodings.runs:
      if (field.type !== 'BOOLEAN') throw new DamagedError('it has runs of what is not a truth value');
      checkRuns(new PageBody(body.skip(body.uint32())), 1, count);
      break;
    case encodings.differences:
    case encodings.lengthDifferences:
      checkBlocks(body);
      break;
    case encodings.textDifferences:
      checkTexts(body, count);
      break;
  }
}

/**
 * Checks runs of one repeated value, and groups of eight packed values: they may not hold more than `count` values.
 * `onRun` is called for values of one bit.
 */
function checkRuns(body: PageBody, width: number, count: number, onRun?: (value: number, times: number) => void): void {
  for (let seen = 0; seen < count; ) {
    const head = body.varint();
    const missing = count - seen;
    const isPacked = head % 2 === 1;
    const length = isPacked ? 8 * ((head - 1) / 2) : head / 2;
    // The last group counts as eight values, but some writers leave out its unused bytes.
    if (length > (isPacked ? missing + 7 : missing))
      throw new DamagedError('a run of it has more values than its page');
    const used = Math.min(length, missing);
    const least = Math.ceil((isPacked ? used * width : width) / 8);
    const bytes = body.skip(isPacked ? Math.max(least, Math.min((length / 8) * width, body.left)) : least);
    seen += length;
    if (!onRun) continue;
    if (!isPacked) onRun(bytes[0]!, length);
    else for (let i = 0; i < used; i++) onRun((bytes[i >> 3]! >> (i & 7)) & 1, 1);
  }
}

/** Checks the header of blocks of differences. */
function checkBlocks(body: PageBody): void {
  const blockValues = body.varint();
  const parts = body.varint();
  const isSound = parts > 0 && blockValues > 0 && blockValues % parts === 0 && blockValues <= mostBlockValues;
  if (!isSound) throw new DamagedError('a page of it has blocks that cannot be');
}

/** Checks texts that begin as the text before: how many of its bytes they share, and how many follow. */
function checkTexts(body: PageBody, count: number): void {
  const view = new DataView(body.bytes.buffer, body.bytes.byteOffset, body.bytes.byteLength);
  const reader = { view, offset: body.at };
  const unpack = (): Int32Array => {
    checkBlocks(new PageBody(body.bytes.subarray(reader.offset)));
    const lengths = new Int32Array(count);
    deltaBinaryUnpack(reader, count, lengths);
    return lengths;
  };
  const begins = unpack();
  const ends = unpack();
  let before = 0;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const [begin, end] = [begins[i]!, ends[i]!];
    if (begin < 0 || end < 0 || begin > before) throw new DamagedError('a text of it has a length that cannot be');
    before = begin + end;
    sum += before;
    if (before > mostTextBytes) throw new DamagedError(`a text of it has more than ${mostTextBytes} bytes`);
    if (sum > mostChunkBytes) throw new DamagedError(`a column of it has texts of more than ${mostChunkBytes} bytes`);
  }
}

function structOf(header: ThriftStruct, field: number): ThriftStruct {
  const struct = header[field];
  if (typeof struct !== 'object') throw new DamagedError('a page of it has no header');
  return struct;
}

/** Sizes and counts are 32-bit integers that are not negative. */
function numberOf(struct: ThriftStruct, field: number): number {
  const value = struct[field];
  if (typeof value !== 'bigint' || value < 0n || value >= 2n ** 31n) {
    throw new DamagedError('a header of a page of it says what cannot be');
  }
  return Number(value);
}
