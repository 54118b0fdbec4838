import type { ColumnChunk, RowGroup, SchemaElement, Statistics } from 'hyparquet';
import { CompressionCodecs, Encodings, ParquetTypes } from 'hyparquet/src/constants.js';
import { ByteWriter } from 'hyparquet-writer';
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js';
import { unconvertStatistics } from 'hyparquet-writer/src/unconvert.js';
import { putBytes, putNumber, ThriftFields } from './thrift-fields.ts';

/** The most bytes of a least or largest text in a footer. In place of a longer text, it has one that lies beyond it. */
const limitBytes = 256;

/** Packs the entry of a row group in a footer, as hyparquet-writer does. `schema` is the schema of its columns. */
export function packGroup(group: RowGroup, schema: readonly SchemaElement[]): Uint8Array {
  const to = groupBytes;
  to.index = 0;
  const leaves = schema.filter(({ type }) => type);
  const fields = new ThriftFields(to);
  fields.list(1, 'struct', group.columns, (column, nth) => putChunk(to, column, leaves[nth]!));
  fields.number(2, 'i64', group.total_byte_size);
  fields.number(3, 'i64', group.num_rows);
  fields.number(6, 'i64', group.total_compressed_size!);
  fields.end();
  return to.getBytes().slice();
}

/** The bytes of the row group that is being packed. */
const groupBytes = new ByteWriter();

function putChunk(to: ByteWriter, { file_offset, meta_data: meta }: ColumnChunk, leaf: SchemaElement): void {
  const chunk = new ThriftFields(to);
  chunk.number(2, 'i64', file_offset);
  chunk.struct(3);
  const fields = new ThriftFields(to);
  fields.number(1, 'i32', ParquetTypes.indexOf(leaf.type!));
  fields.list(2, 'i32', meta!.encodings, (encoding) => putNumber(to, Encodings.indexOf(encoding)));
  fields.list(3, 'binary', meta!.path_in_schema, (name) => putBytes(to, bytesOf(name)));
  fields.number(4, 'i32', CompressionCodecs.indexOf(meta!.codec));
  fields.number(5, 'i64', meta!.num_values);
  fields.number(6, 'i64', meta!.total_uncompressed_size);
  fields.number(7, 'i64', meta!.total_compressed_size);
  fields.number(9, 'i64', meta!.data_page_offset);
  fields.struct(12);
  putStatistics(to, meta!.statistics!, leaf);
  fields.end();
  chunk.end();
}

function putStatistics(to: ByteWriter, statistics: Statistics, leaf: SchemaElement): void {
  if (statistics.min_value !== undefined) {
    serializeTCompactProtocol(to, unconvertStatistics(statistics, leaf, limitBytes));
    return;
  }
  const fields = new ThriftFields(to);
  fields.number(3, 'i64', statistics.null_count!);
  fields.end();
}

/** The bytes of the names in schemas, which are few. */
const nameBytes = new Map<string, Uint8Array>();

function bytesOf(name: string): Uint8Array {
  const bytes = nameBytes.get(name) ?? Buffer.from(name);
  nameBytes.set(name, bytes);
  return bytes;
}
