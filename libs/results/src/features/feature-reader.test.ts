import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { FeatureReader } from './feature-reader.ts';
import { FeatureWriter } from './feature-writer.ts';

test('every row is read as it was written, in any order and over row groups, also counts beyond 2^31', async (t) => {
  for (const largest of [2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1]) {
    const rows = 2500;
    const histogramOf = (row: number): number[] => {
      const bins = Array.from({ length: 256 }, (_, bin) => (row * 31 + bin * bin) % 1000);
      if (row === 1700) bins[7] = largest;
      return bins;
    };
    const path = await write(t, rows, histogramOf);
    const reader = (await FeatureReader.open(path))!;
    assert.equal(reader.rows, rows);
    for (const row of [0, 1, 962, 963, 2499, 1700, 5]) assert.deepEqual(await reader.histogram(row), histogramOf(row));
    await assert.rejects(reader.histogram(rows), /^Error: There is no row 2500$/);
    let row = 0;
    for (let group = 0; group < reader.rowGroups; group++) {
      const { histogram, source } = await reader.columns(group, 256);
      for (let i = 0; i < source.numbers.length; i++, row++) {
        assert.equal(source.texts[source.numbers[i]!], `file:///${row}`);
        assert.deepEqual([...histogram.subarray(256 * i, 256 * (i + 1))], histogramOf(row));
      }
    }
    assert.equal(row, rows);
    await assert.rejects(reader.columns(1, 128), /^Error: Row 963 has 256 bins instead of 128$/);
  }
});

test('a file of an older version, without names and without a word of itself, is read', async (t) => {
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
  for (const [row, histogram] of histograms.entries()) assert.deepEqual(await reader.histogram(row), histogram);
});

test('row groups are read as columns, with times and cameras where the file has them', async (t) => {
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

test('a file that is not there is none', async () => {
  assert.equal(await FeatureReader.open('/nowhere/features.parquet'), undefined);
});

async function write(t: TestContext, rows: number, histogramOf: (row: number) => number[]): Promise<string> {
  const path = await temporaryPath(t);
  const writer = await FeatureWriter.create(path, 256);
  for (let row = 0; row < rows; row++) {
    const where = {
      source: `file:///${row}`,
      name: '',
      frame: 0,
      timestampMs: null,
      capturedAtMs: null,
      camera: null,
      cellRow: 0,
      cellColumn: 0,
      counted: 1,
    };
    await writer.add({ ...where, histogram: histogramOf(row) });
  }
  await writer.finish();
  return path;
}

async function temporaryPath(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-features-'));
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, 'features.parquet');
}
