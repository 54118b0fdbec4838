import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import type { RowGroup } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { columnLeaves } from './column-leaves.ts';
import { featureSchema } from './encode-page.ts';
import { FooterGroups } from './footer-groups.ts';

/** Some texts are longer than a footer allows. */
const anyText = fc
  .tuple(fc.constantFrom('', '\ufeff', 'a', 'é', '\ud7ff', '\u{10ffff}'), fc.nat(300), fc.string())
  .map(([one, times, rest]) => Buffer.from(one.repeat(times) + rest));

const anyLimit = {
  BYTE_ARRAY: anyText,
  INT32: fc.integer(),
  INT64: fc.bigInt({ min: 0n, max: 2n ** 53n }),
  DOUBLE: fc.double({ noNaN: true }),
};

const anyGroup: fc.Arbitrary<RowGroup> = fc
  .record({ start: fc.bigInt(0n, 2n ** 40n), sizes: fc.array(fc.nat(), { minLength: 10, maxLength: 10 }) })
  .chain(({ start, sizes }) => {
    const columns = columnLeaves(featureSchema(false)).map(({ path, type }, i) => {
      const limits = fc.option(fc.tuple(...Array.from({ length: 2 }, () => anyLimit[type as keyof typeof anyLimit])));
      return limits.map((values) => {
        const [min_value, max_value] = values ?? [];
        const size = BigInt(sizes[i]!);
        return {
          meta_data: {
            type,
            path_in_schema: path,
            codec: i % 2 ? ('SNAPPY' as const) : ('UNCOMPRESSED' as const),
            encodings: i % 3 ? (['PLAIN'] as const).slice() : (['DELTA_BINARY_PACKED', 'RLE'] as const).slice(),
            num_values: size,
            total_compressed_size: size,
            total_uncompressed_size: 2n * size,
            data_page_offset: start + size,
            // The column of histograms has no limits.
            statistics: { ...(values && i < 9 && { min_value, max_value }), null_count: size },
          },
          file_offset: start + size,
        };
      });
    });
    const sum = BigInt(sizes.length);
    const rest = { total_byte_size: start, total_compressed_size: start + sum, num_rows: BigInt(sizes[0]!) };
    return fc.tuple(...columns).map((of) => ({ columns: of, ...rest }));
  });

test('property: footers have the bytes that the library writes for the same row groups, also for some of them and wider', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.array(anyGroup, { maxLength: 3 }), fc.array(anyGroup, { minLength: 13, maxLength: 17 })),
      fc.boolean(),
      fc.dictionary(fc.string(), fc.string()),
      fc.tuple(fc.nat(17), fc.nat(17)),
      (all, isWide, about, [one, other]) => {
        const groups = new FooterGroups(featureSchema(false));
        for (const group of all) groups.add(group);
        const schema = featureSchema(isWide);
        assert.deepEqual(groups.footer({ schema, about }), footerOf(all, isWide, about));
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const some = new FooterGroups(featureSchema(false));
        for (const group of groups.slice(from, to)) some.add(group);
        assert.deepEqual(some.footer({ schema, about }), footerOf(all.slice(from, to), isWide, about));
      },
    ),
    { numRuns: repeated(40, 400) },
  );
});

/** The footer as the writer of the library makes it. */
function footerOf(groups: RowGroup[], isWide: boolean, about: Record<string, string>): Buffer {
  const schema = featureSchema(isWide);
  const types = columnLeaves(schema).map(({ type }) => type);
  const writer = new ByteWriter();
  const kvMetadata = Object.entries(about).map(([key, value]) => ({ key, value }));
  const file = new ParquetWriter({ writer, schema, createdBy: 'halogrid', statisticsTruncateLength: 256, kvMetadata });
  const mark = writer.offset;
  for (const group of groups) {
    const columns = group.columns.map(({ meta_data, ...rest }, i) => {
      return { ...rest, meta_data: { ...meta_data!, type: types[i]! } };
    });
    file.row_groups.push({ ...group, columns });
    file.num_rows += group.num_rows;
  }
  file.finish();
  return Buffer.from(writer.getBytes().subarray(mark));
}
