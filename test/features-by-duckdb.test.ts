// Reads tables with DuckDB: features.parquet as a file and as a folder of files, and the part of a job.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { type FeatureSource, FeatureWriter, type FileLimits } from '@halogrid/results/features';
import { PartWriter } from '@halogrid/results/part-writer';
import { packSources } from '@halogrid/sources/pack-sources';
import { scratchFolder } from './scratch-folder.ts';

const folder = scratchFolder();
const shape = { grid: { rows: 1, columns: 2 }, bins: 100 };
const parts: FileLimits = { wholeCounts: 2 ** 17, partCounts: 2 ** 17 };
const listed = 3000;

/** Sources that give compressed and uncompressed pages, pages without sources, and pages with nulls. */
function* sources(largest: number): Generator<[FeatureSource, { counted: number; histogram: number[] }[]]> {
  for (let number = 0; number < listed; number++) {
    if (number % 128 === 0 || number % 128 === 127 || (number >= 1024 && number < 1300)) continue;
    const facts = { number, source: `file:///in/${number}-ü`, name: `n${number}`, frame: number };
    const times = {
      timestampMs: number % 3 ? number / 3 : null,
      capturedAtMs: number % 500 > 99 ? 1e12 + number : null,
    };
    const cells = [0, 1].map((cell) => {
      const histogram = Array.from({ length: 100 }, (_, bin) => {
        return number < 600 ? bin % 4 : ((bin + 1) * (number + cell) * 2654435761) % 4099;
      });
      if (number === 2500 && cell === 1) histogram[7] = largest;
      return { counted: number + cell, histogram };
    });
    yield [{ ...facts, ...times, camera: number % 7 ? null : `c${number % 5}` }, cells];
  }
}

test('DuckDB finds every row of a file and of a folder, also counts beyond 2^31', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  for (const [i, largest] of [2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1].entries()) {
    for (const limits of [undefined, parts]) {
      const path = join(folder, `features-${i}${limits ? '-parts' : ''}.parquet`);
      const writer = await FeatureWriter.create(path, shape, limits);
      const expected: unknown[] = [];
      for (const [facts, cells] of sources(largest)) {
        await writer.add(facts, cells);
        const { source, name, frame, timestampMs, capturedAtMs, camera } = facts;
        for (const [cell, { counted, histogram }] of cells.entries()) {
          const captured = capturedAtMs === null ? null : BigInt(capturedAtMs);
          const place = [0, cell, BigInt(counted)];
          expected.push([source, name, frame, timestampMs, captured, camera, ...place, histogram.map(BigInt)]);
        }
      }
      await writer.finish(listed, { halogrid: '{"digest":"d"}' });
      const from = `read_parquet('${path}${limits ? '/*.parquet' : ''}')`;
      const found = await connection.runAndReadAll(
        `SELECT source, name, frame, timestamp_ms, epoch_ms(captured_at), camera, cell_row, cell_col, counted, histogram::BIGINT[]
         FROM ${from}`,
      );
      const rows = found.getRowsJS();
      assert.equal(rows.length, expected.length);
      for (const [row, values] of rows.entries()) assert.deepEqual(values, expected[row]);
      // The statistics of row groups lead to the row and hide none.
      const one = await connection.runAndReadAll(
        `SELECT frame FROM ${from} WHERE source = 'file:///in/2001-ü' AND cell_col = 1`,
      );
      assert.deepEqual(one.getRowsJS(), [[2001]]);
      const type = await connection.runAndReadAll(`SELECT DISTINCT typeof(histogram) FROM ${from}`);
      assert.deepEqual(type.getRowsJS(), [[largest < 2 ** 31 ? 'INTEGER[]' : 'BIGINT[]']]);
    }
  }
});

test('DuckDB finds the rows of a part, which has the form of an output', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const writer = await PartWriter.create(join(folder, 'parts'), [{ name: '', shape: { ...shape, channels: 1 } }]);
  const numbers = Array.from({ length: 300 }, (_, index) => index);
  const countOf = (index: number, bin: number) => (index === 299 && bin === 7 ? 2 ** 40 : (index * bin) % 97);
  // Later sources come first, and every tenth source cannot be processed.
  for (const some of [numbers.slice(150), numbers.slice(0, 150)]) {
    const found = some.filter((index) => index % 10 > 0);
    const bins = Float64Array.from(found.flatMap((index) => numbers.slice(0, 200).map((bin) => countOf(index, bin))));
    await writer.add({
      block: packSources(some.map((index) => ({ index, uri: `file:///${index}`, name: `n${index}`, sizeBytes: 1 }))),
      found: Uint32Array.from(found, (index) => index - some[0]!),
      widths: new Uint32Array(found.length).fill(9),
      heights: new Uint32Array(found.length).fill(8),
      parts: [{ counted: new Float64Array(found.length).fill(72), bins }],
    });
  }
  await writer.finish();
  const part = join(folder, 'parts', writer.id);
  const rows = await connection.runAndReadAll(
    `SELECT s.uri, quarantined, s.width, cell_col, histogram::BIGINT[]
     FROM read_parquet('${part}/sources.parquet') s
     LEFT JOIN read_parquet('${part}/features.parquet') f ON f.source = s.uri
     ORDER BY s.name IS NULL, regexp_extract(s.uri, '[0-9]+')::INT, cell_col`,
  );
  const cells = numbers.filter((index) => index % 10 > 0).flatMap((index) => [0, 1].map((cell) => ({ index, cell })));
  const expected = cells.map(({ index, cell }) => {
    const histogram = numbers.slice(100 * cell, 100 * (cell + 1)).map((bin) => BigInt(countOf(index, bin)));
    return [`file:///${index}`, false, 9n, cell, histogram];
  });
  const quarantined = numbers
    .filter((index) => index % 10 === 0)
    .map((index) => [`file:///${index}`, true, null, null, null]);
  assert.deepEqual(rows.getRowsJS(), [...expected, ...quarantined]);
});
