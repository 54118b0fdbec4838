import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
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
  }
});

test('a file that is not there is none', async () => {
  assert.equal(await FeatureReader.open('/nowhere/features.parquet'), undefined);
});

async function write(t: TestContext, rows: number, histogramOf: (row: number) => number[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-features-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'features.parquet');
  const writer = await FeatureWriter.create(path, 256);
  for (let row = 0; row < rows; row++) {
    const where = { source: `file:///${row}`, frame: 0, timestampMs: null, cellRow: 0, cellColumn: 0, counted: 1 };
    await writer.add({ ...where, histogram: histogramOf(row) });
  }
  await writer.finish();
  return path;
}
