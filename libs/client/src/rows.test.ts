import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { readRows } from './rows.ts';

/** A file with one row for each of `frames`. */
const fileOf = (...frames: number[]): ArrayBuffer =>
  parquetWriteBuffer({
    columnData: [
      { name: 'frame', data: frames, type: 'INT32' },
      { name: 'counted', data: frames.map(BigInt), type: 'INT64' },
      { name: 'histogram', data: frames.map((frame) => [frame, 1]) },
    ],
  });

function filesOf(files: Record<string, ArrayBuffer>) {
  return {
    list: async () => Object.entries(files).map(([name, { byteLength }]) => ({ name, bytes: byteLength })),
    open: () => assert.fail('no file is read as a whole'),
    slice: async (name: string, start: number, end: number) => files[name]!.slice(start, end),
  };
}

test('rows come from one file, or from the files of a folder in the order of their names', async () => {
  const table = [
    [{ 'features.parquet': fileOf(0, 1, 2), 'job.json': fileOf(9) }, undefined],
    [
      { 'features.parquet/000000000002.parquet': fileOf(2), 'features.parquet/000000000000.parquet': fileOf(0, 1) },
      undefined,
    ],
    [{ 'pipelines/a/features.parquet/0.parquet': fileOf(0, 1, 2), 'pipelines/b/features.parquet': fileOf(9) }, 'a'],
  ] as const;
  for (const [files, pipeline] of table) {
    const rows = await Array.fromAsync(readRows(filesOf(files), pipeline));
    assert.deepEqual(
      rows.map(({ frame, counted, histogram }) => [frame, counted, [...histogram]]),
      [
        [0, 0, [0, 1]],
        [1, 1, [1, 1]],
        [2, 2, [2, 1]],
      ],
    );
  }
});

test('rows have the statistics of matrices', async () => {
  const columnData = [
    { name: 'counted', data: [1n, 0n], type: 'INT64' as const },
    { name: 'histogram', data: [[1], [0]] },
    { name: 'contrast_1_45', data: [0.5, null], type: 'DOUBLE' as const },
  ];
  const rows = await Array.fromAsync(readRows(filesOf({ 'features.parquet': parquetWriteBuffer({ columnData }) })));
  assert.deepEqual(
    rows.map((row) => row.contrast_1_45),
    [0.5, null],
  );
});

test('a job without histograms, or with several pipelines, has no such rows', async () => {
  const rowsOf = (files: Record<string, ArrayBuffer>) => Array.fromAsync(readRows(filesOf(files)));
  await assert.rejects(rowsOf({}), /^HalogridError: The job has no features.parquet: its kernel has no histogram$/);
  const several = {
    'pipelines/b/features.parquet': fileOf(1),
    'pipelines/a/features.parquet/0.parquet': fileOf(1),
    'pipelines/a/features.parquet/1.parquet': fileOf(1),
  };
  await assert.rejects(
    rowsOf(several),
    /^HalogridError: The job has no features.parquet: choose one of its pipelines, a, b$/,
  );
});
