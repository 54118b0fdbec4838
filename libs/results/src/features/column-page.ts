import type { Encoding } from 'hyparquet';
import { Encodings, PageTypes } from 'hyparquet/src/constants.js';
import { ByteWriter } from 'hyparquet-writer';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { ThriftFields } from './thrift-fields.ts';

/** The least and the largest value of a column. Texts are UTF-8, and ordered by their bytes. */
export interface Limits<Value = number | bigint | Uint8Array> {
  least: Value;
  largest: Value;
}

/** Values of a column, encoded. */
export interface EncodedColumn {
  encoding: Encoding;
  /** How many values there are, including nulls. `data` has no nulls. */
  values: number;
  nulls: number;
  data: Uint8Array;
  /** Undefined if all values are null, and for the column of histograms. */
  limits?: Limits | undefined;
  /** Encoded levels; absent for a column without lists or nulls. */
  repetitionLevels?: Uint8Array;
  definitionLevels?: Uint8Array;
}

/** A page of a column. Its bytes do not depend on its place in a file. */
export interface ColumnPage extends Pick<EncodedColumn, 'encoding' | 'values' | 'nulls' | 'limits'> {
  bytes: Uint8Array;
  /** How many bytes the page would have without compression. */
  plainBytes: number;
  isCompressed: boolean;
  hasLevels: boolean;
}

const noBytes = new Uint8Array();

/** How many first bytes of a page are compressed as a sample, which decides whether the page is compressed. */
const sampleBytes = 1024;

/** To what part of its size Snappy must shrink the sample. Packed bits hardly shrink: counts of photographs by 1 %. */
const worthwhile = 7 / 8;

/** Makes the page of `rows` rows from an encoded column. Equal values give equal bytes. */
export type MakePage = (rows: number, column: EncodedColumn) => ColumnPage;

/** A page for outputs: compressed if that is worthwhile. */
export const columnPage: MakePage = (rows, column) => {
  const { data } = column;
  const sample = data.subarray(0, sampleBytes);
  const isCompressed = sample.length > 0 && snappyCompress(sample).length <= worthwhile * sample.length;
  return pageOf(rows, column, isCompressed ? snappyCompress(data) : data, isCompressed);
};

/** A page that is read once, and soon: without compression and limits, which would take as long as the rest of it. */
export const plainPage: MakePage = (rows, column) => pageOf(rows, { ...column, limits: undefined }, column.data, false);

function pageOf(rows: number, column: EncodedColumn, content: Uint8Array, isCompressed: boolean): ColumnPage {
  const { encoding, values, nulls, data, limits, repetitionLevels = noBytes, definitionLevels = noBytes } = column;
  const levelBytes = repetitionLevels.length + definitionLevels.length;
  header.index = 0;
  const page = new ThriftFields(header);
  page.number(1, 'i32', PageTypes.indexOf('DATA_PAGE_V2'));
  page.number(2, 'i32', levelBytes + data.length);
  page.number(3, 'i32', levelBytes + content.length);
  page.struct(8);
  const head = new ThriftFields(header);
  head.number(1, 'i32', values);
  head.number(2, 'i32', nulls);
  head.number(3, 'i32', rows);
  head.number(4, 'i32', Encodings.indexOf(encoding));
  head.number(5, 'i32', definitionLevels.length);
  head.number(6, 'i32', repetitionLevels.length);
  // A page without this field is compressed.
  if (!isCompressed) head.false(7);
  head.end();
  page.end();
  const bytes = Buffer.concat([header.getBytes(), repetitionLevels, definitionLevels, content]);
  const plainBytes = header.index + levelBytes + data.length;
  return {
    bytes,
    plainBytes,
    encoding,
    values,
    nulls,
    isCompressed,
    hasLevels: levelBytes > 0,
    limits,
  };
}

/** The header of the page that is being made. */
const header = new ByteWriter();
