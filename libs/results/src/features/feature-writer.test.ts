import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { isThorough } from '@halogrid/testing';
import fc from 'fast-check';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { temporaryFolder } from '../testing/maps.ts';
import { type FeatureRow, FeatureWriter } from './feature-writer.ts';

const int32 = fc.nat({ max: 2 ** 31 - 1 });
const tableOf = (count: fc.Arbitrary<number>): fc.Arbitrary<{ bins: number; rows: FeatureRow[] }> =>
  fc.integer({ min: 1, max: 300 }).chain((bins) => {
    const row = fc.record(
      {
        source: fc.string({ unit: 'grapheme' }),
        name: fc.string({ unit: 'grapheme' }),
        frame: int32,
        timestampMs: fc.option(fc.double({ min: 0, noNaN: true }), { nil: null }),
        capturedAtMs: fc.option(fc.integer({ min: -62135596800000, max: 253402300799999 }), { nil: null }),
        camera: fc.option(fc.string({ unit: 'grapheme' }), { nil: null }),
        cellRow: int32,
        cellColumn: int32,
        counted: fc.maxSafeNat(),
        histogram: fc.array(count, { minLength: bins, maxLength: bins }),
      },
      { noNullPrototype: true },
    );
    return fc.record({ bins: fc.constant(bins), rows: fc.array(row, { maxLength: 40 }) }, { noNullPrototype: true });
  });

test('another reader finds the rows as they were added, and equal rows give equal bytes', async (t) => {
  const folder = await temporaryFolder(t);
  await fc.assert(
    fc.asyncProperty(tableOf(int32), async ({ bins, rows }) => {
      const path = await write(folder, rows, bins);
      assert.deepEqual(await read(path), rows);
      assert.equal(await typeOfCounts(path), 'INT32');
      const bytes = await readFile(path);
      assert.ok(bytes.equals(await readFile(await write(folder, rows, bins))));
    }),
    { numRuns: isThorough ? 30 : 10 },
  );
});

test('counts above 2^31 - 1 are kept', async (t) => {
  const folder = await temporaryFolder(t);
  await fc.assert(
    fc.asyncProperty(tableOf(fc.oneof(int32, fc.maxSafeNat())), async ({ bins, rows }) => {
      const path = await write(folder, rows, bins);
      assert.deepEqual(await read(path), rows);
      const needed = rows.some(({ histogram }) => Math.max(...Array.from(histogram)) >= 2 ** 31);
      assert.equal(await typeOfCounts(path), needed ? 'INT64' : 'INT32');
    }),
    { numRuns: isThorough ? 30 : 10 },
  );
});

test('rows whose counts are varints are those of the same counts as numbers', async (t) => {
  const folder = await temporaryFolder(t);
  const count = fc.oneof(fc.nat(300), fc.nat(2 ** 15), fc.nat({ max: 2 ** 29 }), fc.maxSafeNat());
  await fc.assert(
    fc.asyncProperty(tableOf(count), fc.nat(5), async ({ bins, rows }, before) => {
      const path = join(folder, 'packed.parquet');
      const writer = await FeatureWriter.create(path, bins);
      for (const { histogram, counted: _, ...facts } of rows) {
        const bytes = Uint8Array.from([...Array(before).fill(255), ...Array.from(histogram).flatMap(varint)]);
        writer.load(bytes);
        assert.equal(writer.addPacked(facts, before, 1), bytes.length);
        if (writer.isFull) await writer.writeGroup();
      }
      await writer.finish();
      // What is counted is the first channel, which has one bin here.
      assert.deepEqual(
        await read(path),
        rows.map((row) => ({ ...row, counted: row.histogram[0] })),
      );
    }),
    { numRuns: isThorough ? 30 : 10 },
  );
});

test('one count above 2^31 - 1 makes those of every row group int64', async (t) => {
  // With 4096 bins, 63 rows are a group; the differences are as large as they can be.
  const extremes = Float64Array.from({ length: 4096 }, (_, i) => (i % 2 ? 2 ** 31 - 1 : 0));
  const rows = Array.from({ length: 200 }, (_, frame) => ({ ...row, frame, histogram: extremes }));
  const larger = extremes.slice();
  larger[7] = 2 ** 40;
  rows[100] = { ...rows[100]!, histogram: larger };
  const path = await write(await temporaryFolder(t), rows, 4096);
  const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  assert.deepEqual(
    row_groups.map(({ columns }) => columns.at(-1)!.meta_data!.type),
    ['INT64', 'INT64', 'INT64', 'INT64'],
  );
  const expected = rows.map(({ histogram, ...others }) => ({ ...others, histogram: Array.from(histogram) }));
  assert.deepEqual(await read(path), expected);
});

test('a quarter of a million bins are a row group', async (t) => {
  const histogram = Uint32Array.from({ length: 1024 }, (_, i) => (i * 2654435761) >>> 12);
  const rows = Array.from({ length: 600 }, (_, frame) => ({ ...row, frame, histogram }));
  const path = await write(await temporaryFolder(t), rows, 1024);
  const { row_groups, created_by, schema } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  assert.deepEqual(
    row_groups.map((group) => group.num_rows),
    [252n, 252n, 96n],
  );
  assert.equal(created_by, 'halogrid');
  assert.deepEqual(
    schema.map(({ name, type }) => (type ? `${name} ${type}` : name)),
    [
      'schema',
      'source BYTE_ARRAY',
      'name BYTE_ARRAY',
      'frame INT32',
      'timestamp_ms DOUBLE',
      'captured_at INT64',
      'camera BYTE_ARRAY',
      'cell_row INT32',
      'cell_col INT32',
      'counted INT64',
      'histogram',
      'list',
      'element INT32',
    ],
  );
  const last = (await read(path)).at(-1)!;
  assert.deepEqual(last, { ...row, frame: 599, histogram: Array.from(histogram) });
});

test('the footer lists many row groups as it lists few', async (t) => {
  const folder = await temporaryFolder(t);
  // One row has more counts than a group is to have, and is a group.
  const histogram = new Uint8Array(2 ** 18);
  for (const count of [0, 1, 14, 15, 130]) {
    const rows = Array.from({ length: count }, (_, frame) => ({ ...row, frame, histogram }));
    const path = await write(folder, rows, histogram.length);
    const { row_groups, num_rows, created_by } = await parquetMetadataAsync(await asyncBufferFromFile(path));
    assert.deepEqual([row_groups.length, num_rows, created_by], [count, BigInt(count), 'halogrid']);
    for (const [frame, { columns, num_rows: one }] of row_groups.entries()) {
      assert.deepEqual([one, columns.length, columns[2]!.meta_data!.statistics!.max_value], [1n, 10, frame]);
    }
  }
});

test('each row group says what its columns lie between, texts in the order of their UTF-8', async (t) => {
  // In UTF-16 the second comes before the first.
  const texts = ['\uff5e', '\u{1f600}', 'a'];
  const rows = texts.map((text, frame) => {
    return { ...row, source: text, camera: frame ? text : null, timestampMs: frame ? frame / 2 : null, frame };
  });
  const { row_groups } = await parquetMetadataAsync(
    await asyncBufferFromFile(await write(await temporaryFolder(t), rows, 2)),
  );
  const limits = row_groups[0]!.columns.slice(0, -1).map(({ meta_data }) => {
    const { min_value, max_value, null_count } = meta_data!.statistics!;
    return [meta_data!.path_in_schema[0], min_value, max_value, null_count];
  });
  assert.deepEqual(limits, [
    ['source', 'a', '\u{1f600}', 0n],
    ['name', 'a', 'a', 0n],
    ['frame', 0, 2, 0n],
    ['timestamp_ms', 0.5, 1, 1n],
    ['captured_at', undefined, undefined, 3n],
    ['camera', 'a', '\u{1f600}', 1n],
    ['cell_row', 0, 0, 0n],
    ['cell_col', 0, 0, 0n],
    ['counted', 9n, 9n, 0n],
  ]);
});

test('counts that shrink are compressed, and those that do not are left as they are packed', async (t) => {
  const folder = await temporaryFolder(t);
  const codecOf = async (countOf: (i: number) => number): Promise<string> => {
    const rows = Array.from({ length: 20 }, (_, frame) => {
      return { ...row, frame, histogram: Float64Array.from({ length: 1024 }, (_, bin) => countOf(1024 * frame + bin)) };
    });
    const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(await write(folder, rows, 1024)));
    return row_groups[0]!.columns.at(-1)!.meta_data!.codec;
  };
  assert.equal(await codecOf(() => 0), 'SNAPPY');
  const noise = randomBytes(4 * 20 * 1024);
  assert.equal(await codecOf((i) => noise.readUInt32LE(4 * i) >>> 1), 'UNCOMPRESSED');
});

test('numbers that do not fit are refused with one sentence', async (t) => {
  const writer = await FeatureWriter.create(join(await temporaryFolder(t), 'a.parquet'), 2);
  const table: [Partial<FeatureRow>, RegExp][] = [
    [
      { histogram: [1, 2 ** 53] },
      /^Error: Expected integers from 0 to 9007199254740991 for histogram of 'file:\/\/\/a' but received 9007199254740992$/,
    ],
    [{ histogram: [1] }, /^Error: Expected 2 bins for histogram of 'file:\/\/\/a' but received 1$/],
    [{ frame: -1 }, /for frame of .* received -1$/],
    [{ cellRow: 0.5 }, /for cell_row of .* received 0.5$/],
    [{ cellColumn: 2 ** 31 }, /for cell_col of /],
    [{ counted: 2 ** 60 }, /for counted of /],
  ];
  for (const [part, message] of table) assert.throws(() => writer.add({ ...row, ...part }), message);
  await writer.abort();
});

test('the file says of itself what it is given at its end', async (t) => {
  const path = join(await temporaryFolder(t), 'a.parquet');
  const writer = await FeatureWriter.create(path, 2);
  await writer.add(row);
  await writer.finish({ halogrid: '{"digest":"é"}' });
  const { key_value_metadata } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  assert.deepEqual(key_value_metadata, [{ key: 'halogrid', value: '{"digest":"é"}' }]);
  assert.equal((await read(path)).length, 1);
});

test('the file appears when it is finished, and an abort leaves nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const writer = await FeatureWriter.create(join(folder, 'a.parquet'), 2);
  await writer.add(row);
  assert.equal((await readdir(folder)).includes('a.parquet'), false);
  await writer.finish();
  assert.deepEqual(await readdir(folder), ['a.parquet']);

  const aborted = await FeatureWriter.create(join(folder, 'b.parquet'), 2);
  await aborted.add(row);
  await aborted.abort();
  await aborted.abort();
  assert.deepEqual(await readdir(folder), ['a.parquet']);
});

/** 7 bits a byte, the lowest first, with bit 7 set in all bytes but the last. */
const varint = (count: number): number[] =>
  count < 128 ? [count] : [(count % 128) + 128, ...varint(Math.floor(count / 128))];

const row: FeatureRow = {
  source: 'file:///a',
  name: 'a',
  frame: 0,
  timestampMs: null,
  capturedAtMs: null,
  camera: null,
  cellRow: 0,
  cellColumn: 0,
  counted: 9,
  histogram: [4, 5],
};

async function write(folder: string, rows: FeatureRow[], bins: number): Promise<string> {
  const path = join(folder, 'features.parquet');
  const writer = await FeatureWriter.create(path, bins);
  for (const each of rows) await writer.add(each);
  await writer.finish();
  return path;
}

async function typeOfCounts(path: string): Promise<string | undefined> {
  const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  return schema.at(-1)!.type;
}

async function read(path: string): Promise<FeatureRow[]> {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path) });
  return rows.map((each) => ({
    source: each.source,
    name: each.name,
    frame: each.frame,
    timestampMs: each.timestamp_ms,
    capturedAtMs: each.captured_at?.getTime() ?? null,
    camera: each.camera,
    cellRow: each.cell_row,
    cellColumn: each.cell_col,
    counted: Number(each.counted),
    histogram: each.histogram.map(Number),
  }));
}
