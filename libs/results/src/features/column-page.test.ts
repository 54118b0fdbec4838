import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { columnPage, plainPage } from './column-page.ts';

test('property: a page begins with the header that the library gives it', () => {
  const levels = fc.uint8Array({ maxLength: 300 });
  fc.assert(
    fc.property(
      ...[fc.nat(), fc.nat(), fc.nat(), levels, levels, fc.uint8Array({ maxLength: 3000 }), fc.boolean()],
      (rows, values, nulls, repetitionLevels, definitionLevels, bytes, isEven) => {
        // Zeros shrink.
        const data = isEven ? new Uint8Array(bytes.length) : bytes;
        const column = { encoding: 'DELTA_BINARY_PACKED' as const, values, nulls, data };
        const levelBytes = repetitionLevels.length + definitionLevels.length;
        for (const make of [columnPage, plainPage]) {
          const {
            bytes: page,
            plainBytes,
            isCompressed,
          } = make(rows, { ...column, repetitionLevels, definitionLevels });
          const content = page.length - (plainBytes - data.length);
          if (!isCompressed) assert.equal(content, data.length);
          const header = new ByteWriter();
          writePageHeader(header, {
            type: 'DATA_PAGE_V2',
            uncompressed_page_size: levelBytes + data.length,
            compressed_page_size: levelBytes + content,
            data_page_header_v2: {
              num_values: values,
              num_nulls: nulls,
              num_rows: rows,
              encoding: column.encoding,
              repetition_levels_byte_length: repetitionLevels.length,
              definition_levels_byte_length: definitionLevels.length,
              is_compressed: isCompressed,
            },
          });
          const front = Buffer.from(header.getBytes());
          assert.deepEqual(Buffer.from(page.subarray(0, front.length)), front);
          assert.equal(page.length, front.length + levelBytes + content);
        }
      },
    ),
  );
});
