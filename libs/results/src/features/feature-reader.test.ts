import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { FeatureReader } from './feature-reader.ts';
import { FeatureWriter, type FileLimits } from './feature-writer.ts';

test('every row is read as it was written, in any order and over row groups and files, also counts beyond 2^31', async (t) => {
  const few = { wholeCounts: 2 ** 18, partCounts: 2 ** 18 };
  for (const [largest, ...eachLimits] of [
    [2 ** 31 - 1, few],
    [2 ** 31, undefined, few],
    [2 ** 53 - 1, undefined],
  ] as const) {
    for (const limits of eachLimits) {
      const rows = 1200;
      const histogramOf = (row: number): number[] => {
        const bins = Array.from({ length: 256 }, (_, bin) => (row * 31 + bin * bin) % 1000);
        if (row === 1100) bins[7] = largest;
        return bins;
      };
      const path = await write(t, rows, histogramOf, limits);
      assert.equal((await stat(path)).isDirectory(), limits !== undefined);
      const reader = (await FeatureReader.open(path))!;
      assert.equal(reader.rows, rows);
      for (const row of [0, 1, 962, 1023, 1024, 1199, 1100, 5]) {
        assert.deepEqual([...(await reader.histogram(row))], histogramOf(row));
      }
      await assert.rejects(reader.histogram(rows), /^Error: There is no row 1200$/);
      let row = 0;
      for (let group = 0; group < reader.rowGroups; group++) {
        const { histogram, source } = await reader.columns(group, 256);
        for (let i = 0; i < source.numbers.length; i++, row++) {
          assert.equal(source.texts[source.numbers[i]!], `file:///${row}`);
          assert.deepEqual([...histogram.subarray(256 * i, 256 * (i + 1))], histogramOf(row));
        }
      }
      assert.equal(row, rows);
      await assert.rejects(reader.columns(1, 128), /^Error: Row 1024 has 256 bins instead of 128$/);
    }
  }
});

test('a file of an earlier version, with a fixed number of rows per row group, is read', async () => {
  // 40 rows of 2 x 3 cells and 1300 bins, of version 0.1.0.
  const reader = (await FeatureReader.open(fileURLToPath(new URL('../testing/rows-0.1.0.parquet', import.meta.url))))!;
  assert.deepEqual([reader.rows, reader.rowGroups, reader.missingColumns], [240, 2, []]);
  const histogramOf = (row: number) => Array.from({ length: 1300 }, (_, bin) => (row * 31 + bin) % 7);
  for (const row of [0, 198, 199, 200, 239]) assert.deepEqual([...(await reader.histogram(row))], histogramOf(row));
  const { source, cellRow, cellColumn } = await reader.columns(1, 1300);
  assert.deepEqual([source.texts[source.numbers[0]!], cellRow[0], cellColumn[0]], ['file:///33', 0, 1]);
});

test('a file of an older version, without names and without a description, is read', async (t) => {
  const path = await temporaryPath(t);
  const histograms = [
    [1, 2],
    [3, 4],
  ];
  const columnData = [
    { name: 'source', data: ['file:///a', 'file:///b'] },
    { name: 'histogram', data: histograms },
  ];
  await writeFile(path, Buffer.from(parquetWriteBuffer({ columnData })));
  const reader = (await FeatureReader.open(path))!;
  assert.equal(reader.rows, 2);
  for (const [row, histogram] of histograms.entries()) assert.deepEqual([...(await reader.histogram(row))], histogram);
});

test('row groups are read as columns, with times and cameras if the file has them', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-features-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'features.parquet');
  const capturedAt = new Date('2026-01-31T08:00:00.250Z');
  const flat = [
    { name: 'source', data: ['file:///a', 'file:///b'], type: 'STRING' },
    { name: 'frame', data: [0, 7], type: 'INT32' },
    { name: 'timestamp_ms', data: [null, 280], type: 'DOUBLE', nullable: true },
    { name: 'captured_at', data: [capturedAt, null], type: 'TIMESTAMP', nullable: true },
    { name: 'camera', data: [null, 'north'], type: 'STRING', nullable: true },
    { name: 'cell_row', data: [0, 1], type: 'INT32' },
    { name: 'cell_col', data: [2, 0], type: 'INT32' },
    { name: 'counted', data: [3n, 5n], type: 'INT64' },
  ] as const;
  const histogram = {
    name: 'histogram',
    data: [
      [1, 2],
      [5, 0],
    ],
  };
  await writeFile(
    path,
    Buffer.from(
      parquetWriteBuffer({ columnData: [...flat, histogram].map((column) => ({ ...column, data: [...column.data] })) }),
    ),
  );
  const reader = (await FeatureReader.open(path))!;
  assert.equal(reader.rowGroups, 1);
  assert.deepEqual(await reader.columns(0, 2), {
    source: { texts: ['file:///a', 'file:///b'], numbers: Uint32Array.of(0, 1) },
    frame: Int32Array.of(0, 7),
    timestampMs: Float64Array.of(Number.NaN, 280),
    capturedAtMs: Float64Array.of(capturedAt.getTime(), Number.NaN),
    camera: { texts: [null, 'north'], numbers: Uint32Array.of(0, 1) },
    cellRow: Int32Array.of(0, 1),
    cellColumn: Int32Array.of(2, 0),
    counted: Float64Array.of(3, 5),
    histogram: Float64Array.of(1, 2, 5, 0),
  });
  await assert.rejects(reader.columns(0, 3), /^Error: Row 0 has 2 bins instead of 3$/);
});

test('a missing file gives undefined, and a folder must have files', async (t) => {
  assert.equal(await FeatureReader.open('/nowhere/features.parquet'), undefined);
  const folder = dirname(await temporaryPath(t));
  await assert.rejects(FeatureReader.open(folder), /^Error: '.*' has no files that end with \.parquet$/);
  // A link may lead to a folder that may not be read.
  await symlink('/etc/hostname', join(folder, '000000000000.parquet'));
  await assert.rejects(FeatureReader.open(folder), /^Error: '.*' has no files that end with \.parquet$/);
});

async function write(
  t: TestContext,
  rows: number,
  histogramOf: (row: number) => number[],
  limits?: FileLimits,
): Promise<string> {
  const path = await temporaryPath(t);
  const writer = await FeatureWriter.create(path, { grid: { rows: 1, columns: 1 }, bins: 256 }, limits);
  const none = { timestampMs: null, capturedAtMs: null, camera: null };
  for (let number = 0; number < rows; number++) {
    const source = { number, source: `file:///${number}`, name: '', frame: 0, ...none };
    await writer.add(source, [{ counted: 1, histogram: histogramOf(number) }]);
  }
  await writer.finish(rows);
  return path;
}

async function temporaryPath(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-features-'));
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, 'features.parquet');
}
