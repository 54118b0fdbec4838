import type { ColumnMetaData, Encoding } from 'hyparquet';
import { Encodings } from 'hyparquet/src/constants.js';
import { decompressPage, readDataPage } from 'hyparquet/src/datapage.js';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readPlain } from 'hyparquet/src/plain.js';
import { compressors } from './codecs.ts';
import { DamagedError } from './damaged-error.ts';
import { PageBody } from './page-body.ts';
import type { Leaf } from './parquet-footer.ts';
import { readThriftStruct, type ThriftStruct } from './thrift-struct.ts';

/** Numbers from the definition of the format. */
const kinds = { data: 0n, dictionary: 2n, dataV2: 3n } as const;
const encodings = {
  plain: 0n,
  oldDictionary: 2n,
  runs: 3n,
  differences: 5n,
  lengthDifferences: 6n,
  textDifferences: 7n,
  dictionary: 8n,
} as const;

/** The most values of a block of differences; writers use 128. */
const mostBlockValues = 2 ** 20;

/** A column of a row group, with one value a row or none. */
export interface PagedColumn {
  leaf: Leaf;
  codec: ColumnMetaData['codec'];
  rows: number;
  /** The most bytes of a value that continues the one before it. */
  mostTextBytes: number;
  /** The most bytes that the pages that are read together unpack to. */
  mostBytes: number;
}

/** The header of a page. */
export interface PageHeader {
  header: ThriftStruct;
  isDictionary: boolean;
  /** Rows of the page; 0 for a dictionary. */
  rows: number;
  packedBytes: number;
  unpackedBytes: number;
}

/** Values of a page in memory, one for each row. They are parts of `bytes`, or of the dictionary. */
export interface PageValues {
  values: (Uint8Array | undefined)[];
  bytes: number;
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
    const { page, end } = readPageHeader(bytes, at, column.rows - rows);
    unpackedBytes += page.unpackedBytes;
    if (unpackedBytes > column.mostBytes)
      throw new DamagedError(`a column of it unpacks to more than ${column.mostBytes} bytes`);
    if (page.packedBytes > bytes.length - end) throw new DamagedError('a page of it is longer than its column');
    at = end + page.packedBytes;
    rows += page.rows;
    if (!page.isDictionary) openPage(page, bytes.subarray(end, at), column);
  }
  return at;
}

/** Reads the header of a page, and where it ends. Throws DamagedError if the page has more than `mostRows` rows. */
export function readPageHeader(bytes: Uint8Array, at: number, mostRows: number): { page: PageHeader; end: number } {
  const { value: header, end } = readThriftStruct(bytes, at);
  const [unpackedBytes, packedBytes] = [numberOf(header, 2), numberOf(header, 3)];
  const isDictionary = header[1] === kinds.dictionary;
  if (isDictionary) {
    // A value has a byte or more.
    if (numberOf(structOf(header, 7), 1) > unpackedBytes)
      throw new DamagedError('a dictionary of it is larger than its page');
  } else if (header[1] !== kinds.data && header[1] !== kinds.dataV2)
    throw new DamagedError('it has a page of an unknown kind');
  const rows = isDictionary ? 0 : numberOf(structOf(header, header[1] === kinds.data ? 5 : 8), 1);
  if (rows > mostRows) throw new DamagedError('a column of it has more values than rows');
  return { page: { header, isDictionary, rows, packedBytes, unpackedBytes }, end };
}

/** The values of a dictionary of texts. Throws DamagedError, and what hyparquet throws. */
export function readDictionary(page: PageHeader, packed: Uint8Array, column: PagedColumn): PageValues {
  const unpacked = decompressPage(packed, page.unpackedBytes, column.codec, compressors);
  const count = numberOf(structOf(page.header, 7), 1);
  checkPlain(new PageBody(unpacked), count);
  const values = readPlain({ view: viewOf(unpacked), offset: 0 }, 'BYTE_ARRAY', count, undefined);
  return { values: values as Uint8Array[], bytes: unpacked.length };
}

/** The values of a page of texts. Throws DamagedError, and what hyparquet throws. */
export function readValues(
  page: PageHeader,
  packed: Uint8Array,
  column: PagedColumn,
  dictionary?: PageValues,
): PageValues {
  const { body, encoding, isThere, there } = openPage(page, packed, column);
  const bytes = body.bytes.subarray(body.at);
  const read = there > 0 ? decode(bytes, Encodings[Number(encoding)]!, there) : [];
  const known = encoding === encodings.dictionary || encoding === encodings.oldDictionary;
  let next = 0;
  const values = Array.from({ length: page.rows }, (_, i) => {
    if (isThere && !isThere[i]) return undefined;
    const value = read[next++];
    const found = known ? dictionary?.values[value as number] : (value as Uint8Array);
    if (!(found instanceof Uint8Array)) throw new DamagedError('a value of it is not in its dictionary');
    return found;
  });
  // Texts by differences are copies, which may take much more than the page.
  const textBytes = encoding === encodings.textDifferences ? lengthOf(values) : body.bytes.length;
  return { values, bytes: textBytes + valueBytes * page.rows };
}

/** The memory of a value besides its bytes. */
const valueBytes = 8;
const lengthOf = (values: readonly (Uint8Array | undefined)[]): number =>
  values.reduce((sum, value) => sum + (value?.length ?? 0), 0);

/** Decodes the values behind the levels. They have no levels of their own, so that no field is optional. */
function decode(bytes: Uint8Array, encoding: Encoding, count: number): ArrayLike<unknown> {
  const page = { num_values: count, encoding, definition_level_encoding: 'RLE', repetition_level_encoding: 'RLE' };
  const column = { type: 'BYTE_ARRAY', element: {}, schemaPath: [] };
  const { dataPage } = readDataPage(bytes, page as never, column as never);
  return dataPage as ArrayLike<unknown>;
}

interface OpenedPage {
  /** Its values follow. */
  body: PageBody;
  encoding: bigint;
  /** Which rows have a value; undefined: all. */
  isThere: Uint8Array | undefined;
  /** How many have. */
  there: number;
}

/** Unpacks a page, and checks it as checkPages does. */
function openPage(page: PageHeader, packed: Uint8Array, column: PagedColumn): OpenedPage {
  const opened = page.header[1] === kinds.data ? openData(page, packed, column) : openDataV2(page, packed, column);
  checkValues(opened, column);
  return opened;
}

function openData({ header, rows, unpackedBytes }: PageHeader, packed: Uint8Array, column: PagedColumn): OpenedPage {
  const body = new PageBody(decompressPage(packed, unpackedBytes, column.codec, compressors));
  const width = levelBits(column.leaf);
  const levels = width > 0 ? readLevels(new PageBody(body.skip(body.uint32())), rows, column.leaf) : allOf(rows);
  return { body, encoding: encodingOf(structOf(header, 5), 2), ...levels };
}

function openDataV2({ header, rows, unpackedBytes }: PageHeader, packed: Uint8Array, column: PagedColumn): OpenedPage {
  const page = structOf(header, 8);
  const front = new PageBody(packed);
  front.skip(numberOf(page, 6));
  const levelBody = new PageBody(front.skip(numberOf(page, 5)));
  const levels = levelBits(column.leaf) > 0 ? readLevels(levelBody, rows, column.leaf) : allOf(rows);
  if (numberOf(page, 3) !== rows || numberOf(page, 2) !== rows - levels.there) {
    throw new DamagedError('a page of it has other values than it says');
  }
  const rest = packed.subarray(front.at);
  const unpacked = unpackedBytes - front.at;
  // Some writers leave out the compressed form of no bytes.
  const isPlain = page[7] === false || unpacked === 0;
  const bytes = isPlain ? rest : decompressPage(rest, unpacked, column.codec, compressors);
  return { body: new PageBody(bytes), encoding: encodingOf(page, 4), ...levels };
}

const allOf = (there: number): Pick<OpenedPage, 'isThere' | 'there'> => ({ isThere: undefined, there });

/** How many of the fields down to a value may be missing: the level of a value that is there. */
const levelOf = ({ path }: Leaf): number => path.filter(({ repetition_type }) => repetition_type !== 'REQUIRED').length;
const levelBits = (leaf: Leaf): number => 32 - Math.clz32(levelOf(leaf));

function readLevels(body: PageBody, count: number, leaf: Leaf): Pick<OpenedPage, 'isThere' | 'there'> {
  const ofValue = levelOf(leaf);
  const isThere = new Uint8Array(count);
  let [at, there] = [0, 0];
  checkRuns(body, levelBits(leaf), count, (level, times) => {
    if (level === ofValue) {
      isThere.fill(1, at, at + times);
      there += times;
    }
    at += times;
  });
  return there === count ? allOf(count) : { isThere, there };
}

function checkValues({ encoding, body: whole, there: count }: OpenedPage, { leaf, ...most }: PagedColumn): void {
  const body = new PageBody(whole.bytes.subarray(whole.at));
  if (count === 0 && body.left === 0) return;
  switch (encoding) {
    case encodings.plain:
      if (leaf.field.type === 'BYTE_ARRAY') checkPlain(body, count);
      break;
    case encodings.oldDictionary:
    case encodings.dictionary: {
      const width = count > 0 || body.left > 0 ? body.byte() : 0;
      if (width > 32) throw new DamagedError('a page of it has indices of more than 32 bits');
      if (width > 0) checkRuns(body, width, count);
      break;
    }
    case encodings.runs:
      if (leaf.field.type !== 'BOOLEAN') throw new DamagedError('it has runs of what is not a truth value');
      checkRuns(new PageBody(body.skip(body.uint32())), 1, count);
      break;
    case encodings.differences:
      if (leaf.field.type === 'BYTE_ARRAY') throw new DamagedError('it has differences of texts');
      checkBlocks(body);
      break;
    case encodings.lengthDifferences:
      checkLengths(body, count);
      break;
    case encodings.textDifferences:
      checkTexts(body, count, most);
      break;
  }
}

/** Checks texts, each behind its length. */
function checkPlain(body: PageBody, count: number): void {
  for (let i = 0; i < count; i++) body.skip(body.uint32());
}

/**
 * Checks runs of one repeated value, and groups of eight packed values: they may not hold more than `count` values.
 * `onRun` is called for values of 8 bits or fewer.
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
    else for (let i = 0; i < used; i++) onRun(packedValue(bytes, i, width), 1);
  }
}

function packedValue(bytes: Uint8Array, i: number, width: number): number {
  let value = 0;
  for (let bit = 0; bit < width; bit++) {
    const at = i * width + bit;
    value |= ((bytes[at >> 3]! >> (at & 7)) & 1) << bit;
  }
  return value;
}

/** Checks the header of blocks of differences. */
function checkBlocks(body: PageBody): void {
  const blockValues = body.varint();
  const parts = body.varint();
  const isSound = parts > 0 && blockValues > 0 && blockValues % parts === 0 && blockValues <= mostBlockValues;
  if (!isSound) throw new DamagedError('a page of it has blocks that cannot be');
}

/** Unpacks integers that are stored as differences, from the front of a page. */
function unpackDifferences(body: PageBody, count: number): Int32Array {
  checkBlocks(new PageBody(body.bytes.subarray(body.at)));
  const reader = { view: viewOf(body.bytes), offset: body.at };
  const values = new Int32Array(count);
  deltaBinaryUnpack(reader, count, values);
  body.skip(reader.offset - body.at);
  return values;
}

/** Checks texts behind the lengths of all. */
function checkLengths(body: PageBody, count: number): void {
  for (const length of unpackDifferences(body, count)) {
    if (length < 0) throw wrongLength();
    body.skip(length);
  }
}

/** Checks texts that begin as the text before: how many of its bytes they share, and how many follow. */
function checkTexts(body: PageBody, count: number, most: Pick<PagedColumn, 'mostTextBytes' | 'mostBytes'>): void {
  const begins = unpackDifferences(body, count);
  const ends = unpackDifferences(body, count);
  let before = 0;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const [begin, end] = [begins[i]!, ends[i]!];
    if (begin < 0 || end < 0 || begin > before) throw wrongLength();
    body.skip(end);
    before = begin + end;
    sum += before;
    if (before > most.mostTextBytes) throw new DamagedError(`a text of it has more than ${most.mostTextBytes} bytes`);
    if (sum > most.mostBytes) throw new DamagedError(`a column of it has texts of more than ${most.mostBytes} bytes`);
  }
}

const wrongLength = (): DamagedError => new DamagedError('a text of it has a length that cannot be');

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

function structOf(header: ThriftStruct, field: number): ThriftStruct {
  const struct = header[field];
  if (typeof struct !== 'object') throw new DamagedError('a page of it has no header');
  return struct;
}

function encodingOf(page: ThriftStruct, field: number): bigint {
  const encoding = page[field];
  if (typeof encoding !== 'bigint' || Encodings[Number(encoding)] === undefined)
    throw new DamagedError('a page of it has an unknown encoding');
  return encoding;
}

/** Sizes and counts are 32-bit integers that are not negative. */
function numberOf(struct: ThriftStruct, field: number): number {
  const value = struct[field];
  if (typeof value !== 'bigint' || value < 0n || value >= 2n ** 31n) {
    throw new DamagedError('a header of a page of it says what cannot be');
  }
  return Number(value);
}
