import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { matrixStatistics, statisticNames } from '../histograms/matrix-statistics.ts';
import { featureFiles } from '../testing/feature-rows.ts';
import { temporaryFolder } from '../testing/maps.ts';
import { FeatureWriter, type FileLimits } from './feature-writer.ts';
import { matrixColumnNames } from './matrix-columns.ts';

const levels = 3;
const matrices = { levels, isSymmetric: false, names: ['1@0', '12@135'] };
const shape = { grid: { rows: 1, columns: 2 }, bins: 2 * levels ** 2, matrices };
/** The counts of a cell: two matrices, the second without pairs in every fourth cell. */
const countsOf = (cell: number): number[] =>
  Array.from({ length: shape.bins }, (_, bin) => (bin >= 9 && cell % 4 === 0 ? 0 : (7 * cell + 5 * bin) % 11));

async function written(path: string, limits?: FileLimits) {
  const writer = await FeatureWriter.create(path, shape, limits);
  for (let number = 0; number < 40; number++) {
    const facts = { number, source: `${number}`, name: `${number}`, frame: 0, timestampMs: null, capturedAtMs: null };
    const cells = [0, 1].map((cell) => ({ counted: 1, histogram: countsOf(2 * number + cell) }));
    await writer.add({ ...facts, camera: null }, cells);
  }
  await writer.finish(40);
  const rows: Record<string, unknown>[] = [];
  for (const file of await featureFiles(path)) {
    rows.push(...(await parquetReadObjects({ file: await asyncBufferFromFile(file) })));
  }
  return rows;
}

test('each statistic of each matrix is a column after the histogram, null without pairs', async (t) => {
  const rows = await written(join(await temporaryFolder(t), 'features.parquet'));
  assert.deepEqual(Object.keys(rows[0]!).slice(9), [
    'histogram',
    ...statisticNames.flatMap((name) => [`${name}_1_0`, `${name}_12_135`]),
  ]);
  assert.equal(rows.length, 80);
  for (const [cell, row] of rows.entries()) {
    const counts = countsOf(cell);
    assert.deepEqual(row.histogram, counts);
    for (const [channel, suffix] of ['1_0', '12_135'].entries()) {
      const own = counts.slice(channel * levels ** 2, (channel + 1) * levels ** 2);
      const expected = own.some((count) => count > 0) ? matrixStatistics(own, levels) : undefined;
      for (const name of statisticNames) assert.equal(row[`${name}_${suffix}`], expected?.[name] ?? null);
    }
  }
});

test('columns of several bands are named after the band, too', () => {
  const names = ['band 2, 1@0', 'band 4, 12@135'];
  const [first, second] = matrixColumnNames({ ...matrices, names });
  assert.deepEqual([first, second], ['contrast_band_2_1_0', 'contrast_band_4_12_135']);
});

test('the files of a folder have the same columns', async (t) => {
  const folder = await temporaryFolder(t);
  const whole = await written(join(folder, 'whole.parquet'));
  assert.deepEqual(await written(join(folder, 'cut.parquet'), { wholeCounts: 500, partCounts: 200 }), whole);
});
