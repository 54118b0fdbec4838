import type { ColumnChunk, Encoding, ParquetType, Statistics } from 'hyparquet';
import type { ParquetWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';

/** A column of a row group, which is one page. */
export interface ColumnPage {
  /** Names from the schema's root down to the values. */
  path: string[];
  type: ParquetType;
  encoding: Encoding;
  /** Rows, and values with those that are null. */
  rows: number;
  values: number;
  nulls: number;
  /** Encoded; empty where the column has none. */
  repetitionLevels: Uint8Array;
  definitionLevels: Uint8Array;
  /** The values that are not null, encoded. */
  data: Uint8Array;
  statistics?: Statistics;
}

const noBytes = new Uint8Array();

/** What a column without lists and nulls has. */
export const noLevels = { nulls: 0, repetitionLevels: noBytes, definitionLevels: noBytes };

/** Bytes whose compression says whether all of them are worth it. */
const sampleBytes = 8192;

/** What Snappy has to make of the sample. Bits that are packed hardly ever shrink: counts of photographs become 1 % smaller. */
const worthwhile = 7 / 8;

/** Puts a column behind what `parquet` has written, and says where it is. Equal pages give equal bytes. */
export function writeColumnPage(parquet: ParquetWriter, page: ColumnPage): ColumnChunk {
  const { writer, compressors } = parquet;
  const { path, type, encoding, rows, values, nulls, repetitionLevels, definitionLevels, data, statistics } = page;
  const compress = compressors.SNAPPY!;
  const sample = data.subarray(0, sampleBytes);
  const isCompressed = sample.length > 0 && compress(sample).length <= worthwhile * sample.length;
  const content = isCompressed ? compress(data) : data;
  const levelBytes = repetitionLevels.length + definitionLevels.length;
  const start = writer.offset;
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levelBytes + data.length,
    compressed_page_size: levelBytes + content.length,
    data_page_header_v2: {
      num_values: values,
      num_nulls: nulls,
      num_rows: rows,
      encoding,
      repetition_levels_byte_length: repetitionLevels.length,
      definition_levels_byte_length: definitionLevels.length,
      is_compressed: isCompressed,
    },
  });
  const headerBytes = writer.offset - start;
  writer.appendBytes(repetitionLevels);
  writer.appendBytes(definitionLevels);
  writer.appendBytes(content);
  return {
    meta_data: {
      type,
      encodings: levelBytes > 0 ? [encoding, 'RLE'] : [encoding],
      path_in_schema: path,
      codec: isCompressed ? 'SNAPPY' : 'UNCOMPRESSED',
      num_values: BigInt(values),
      total_compressed_size: BigInt(writer.offset - start),
      total_uncompressed_size: BigInt(headerBytes + levelBytes + data.length),
      data_page_offset: BigInt(start),
      ...(statistics && { statistics }),
    },
    file_offset: BigInt(start),
  };
}
