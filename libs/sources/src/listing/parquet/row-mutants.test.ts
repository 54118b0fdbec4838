import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isThorough } from '@halogrid/testing';
import { openInputFile } from '../../files/input-file.ts';
import { InputError } from '../../input-error.ts';
import { SourceNotFoundError } from '../../source-errors.ts';
import { mutate } from '../../testing/mutate-parquet.ts';
import { type ParquetForm, parquetOf } from '../../testing/parquet-files.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { temporaryFolder } from '../../testing/temporary-files.ts';
import { listAllSources } from '../sources.ts';

// Damaged files of images, made from good ones by a seeded generator. The time-out of the test run detects an endless
// loop.

const seed = Number(process.env.HALOGRID_MUTANTS_SEED ?? 1);
const count = isThorough ? 3_000 : 300;
/** The memory that a mutant may take, in addition to the tests' own: without bounds, some take gigabytes. */
const mostBytes = 2 ** 28;

const forms: ParquetForm[] = [
  { codec: 'UNCOMPRESSED', rowGroupSize: 15 },
  { codec: 'SNAPPY', pageSize: 100 },
  { codec: 'ZSTD', shape: 'flat' },
  { codec: 'GZIP', shape: 'flat', encoding: 'DELTA_LENGTH_BYTE_ARRAY', rowGroupSize: 15 },
  { codec: 'SNAPPY', shape: 'flat', encoding: 'DELTA_BYTE_ARRAY', pageSize: 100 },
];
const seeds = forms.map((form) =>
  parquetOf(
    Array.from({ length: 40 }, (_, i) => ({
      bytes: i % 5 ? new Uint8Array(10 + (i % 7)).fill(i % 7) : null,
      path: `cam/${i}.png`,
    })),
    form,
  ),
);

test('rows of a damaged file are read or refused in words about the file, in bounded memory', async (t) => {
  const folder = await temporaryFolder(t);
  const random = seededRandom(seed);
  const startBytes = process.memoryUsage.rss();
  let [read, refused] = [0, 0];
  for (let i = 0; i < count; i++) {
    const name = `mutant ${i} of series ${seed}`;
    const path = join(folder, `${i}.parquet`);
    writeFileSync(path, mutate(seeds[i % seeds.length]!, random));
    const refuse = (error: unknown): void => {
      assert.ok(error instanceof InputError || error instanceof SourceNotFoundError, `${name}: ${error}`);
      assert.doesNotMatch(error.message, /undefined|NaN|DataView|is not a function|Cannot |BigInt/, name);
      refused++;
    };
    try {
      const [sources] = await Array.fromAsync(listAllSources([pathToFileURL(path).href]));
      for (const { uri, error } of sources ?? []) {
        if (error !== undefined) continue;
        const file = await openInputFile(uri).catch(refuse);
        if (file) read++;
        await file?.close();
      }
    } catch (error) {
      refuse(error);
    }
    const moreBytes = process.memoryUsage.rss() - startBytes;
    assert.ok(moreBytes < mostBytes, `${name} takes ${moreBytes} bytes`);
  }
  assert.ok(read > count && refused > count / 2, `${read} read, ${refused} refused`);
});
