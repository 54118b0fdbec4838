// features.parquet as another program reads it: a file, and a folder of files.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { type FeatureSource, FeatureWriter, type FileLimits } from '@halogrid/results/features';
import { scratchFolder } from './scratch-folder.ts';

const folder = scratchFolder();
const shape = { grid: { rows: 1, columns: 2 }, bins: 100 };
const parts: FileLimits = { wholeCounts: 2 ** 17, partCounts: 2 ** 17 };
const listed = 3000;

/** Pages that are compressed beside some that are not, some without sources, and nulls in some. */
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
      // What row groups say of themselves leads to the row, and hides none.
      const one = await connection.runAndReadAll(
        `SELECT frame FROM ${from} WHERE source = 'file:///in/2001-ü' AND cell_col = 1`,
      );
      assert.deepEqual(one.getRowsJS(), [[2001]]);
      const type = await connection.runAndReadAll(`SELECT DISTINCT typeof(histogram) FROM ${from}`);
      assert.deepEqual(type.getRowsJS(), [[largest < 2 ** 31 ? 'INTEGER[]' : 'BIGINT[]']]);
    }
  }
});
