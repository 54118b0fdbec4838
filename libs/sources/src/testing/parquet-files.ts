import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { CompressionCodec, Encoding, SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';

/** A row with an image, as in data sets of Hugging Face; null: without one. */
export interface ParquetImage {
  bytes: Uint8Array | null;
  path?: string | null;
}

export interface ParquetForm {
  /** 'struct': a field `image` with `bytes` and `path`; 'flat': a column `image` of bytes. */
  shape?: 'struct' | 'flat';
  codec?: CompressionCodec;
  /** How a flat column is encoded. */
  encoding?: Encoding;
  rowGroupSize?: number;
  pageSize?: number;
  /** A further column, of texts or bytes. */
  also?: { name: string; type: 'STRING' | 'BYTE_ARRAY'; data: readonly (string | Uint8Array)[] };
}

const struct: SchemaElement[] = [
  { name: 'image', repetition_type: 'OPTIONAL', num_children: 2 },
  { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
  { name: 'path', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
];

/** A Parquet file with these images. */
export function parquetOf(images: readonly ParquetImage[], form: ParquetForm = {}): Buffer {
  const { shape = 'struct', codec = 'SNAPPY', encoding, rowGroupSize, pageSize, also } = form;
  const label = { name: 'label', data: images.map((_, i) => i), type: 'INT32' } as const;
  const compressors = {
    GZIP: (given: Uint8Array) => gzipSync(given),
    ZSTD: (given: Uint8Array) => zstdCompressSync(given),
  };
  const options = { codec, compressors, rowGroupSize, pageSize };
  const more = also ? [also] : [];
  if (shape === 'flat') {
    const image = { name: 'image', data: images.map(({ bytes }) => bytes), type: 'BYTE_ARRAY', encoding } as const;
    return Buffer.from(parquetWriteBuffer({ columnData: [label, image, ...more] as never, ...options }));
  }
  const image = { name: 'image', data: images.map(({ bytes, path = null }) => bytes && { bytes, path }) };
  const data = also && { name: also.name, data: also.data };
  const ofAlso: SchemaElement[] = also
    ? [
        {
          name: also.name,
          type: 'BYTE_ARRAY',
          repetition_type: 'REQUIRED',
          ...(also.type === 'STRING' && { converted_type: 'UTF8' }),
        },
      ]
    : [];
  const schema: SchemaElement[] = [
    { name: 'root', num_children: also ? 3 : 2 },
    { name: 'label', type: 'INT32', repetition_type: 'REQUIRED' },
    ...struct,
    ...ofAlso,
  ];
  const columnData = [{ name: 'label', data: label.data }, image, ...(data ? [data] : [])];
  return Buffer.from(parquetWriteBuffer({ columnData: columnData as never, schema, ...options }));
}
