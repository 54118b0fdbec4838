import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { isThorough } from '@halogrid/testing';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { SourceNotFoundError } from '../../source-errors.ts';
import { mutate } from '../../testing/mutate-parquet.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { openParquet, parquetRows } from './parquet-rows.ts';

// Damaged manifests, made from good ones by a seeded generator. The time-out of the test run detects an endless loop.

const seed = Number(process.env.HALOGRID_MUTANTS_SEED ?? 1);
const count = isThorough ? 3_000 : 300;
const rows = 40;
/** The memory that a mutant may take, in addition to the tests' own: without bounds, some take gigabytes. */
const mostBytes = 2 ** 28;

const fixture = (name: string): Buffer => readFileSync(new URL(`../../../fixtures/${name}`, import.meta.url));
const values = <T>(of: (i: number) => T): T[] => Array.from({ length: rows }, (_, i) => of(i));

function makeSeeds(): Buffer[] {
  const seeds = [fixture('nested-size.parquet'), fixture('endless.parquet')];
  const encodings = [undefined, ['PLAIN', 'PLAIN'], ['DELTA_BYTE_ARRAY', 'DELTA_BINARY_PACKED']] as const;
  for (const codec of ['UNCOMPRESSED', 'SNAPPY', 'GZIP'] as const) {
    for (const [text, integer] of encodings.map((encoding) => encoding ?? [])) {
      const columnData = [
        { name: 'path', data: values((i) => `cam/${i % 7}.png`), type: 'STRING', encoding: text },
        {
          name: 'size',
          data: values((i) => (i % 5 ? BigInt(i) : null)),
          type: 'INT64',
          nullable: true,
          encoding: integer,
        },
        { name: 'etag', data: values((i) => (i % 3 ? 'x' : null)), type: 'STRING', nullable: true },
      ] as const;
      const compressors = { GZIP: (given: Uint8Array) => gzipSync(given) };
      seeds.push(
        Buffer.from(parquetWriteBuffer({ columnData: [...columnData], rowGroupSize: 15, codec, compressors })),
      );
    }
  }
  return seeds;
}

test('a damaged manifest of Parquet is read or refused in words about the file, in bounded memory', async () => {
  const seeds = makeSeeds();
  const random = seededRandom(seed);
  const startBytes = process.memoryUsage.rss();
  let read = 0;
  for (let i = 0; i < count; i++) {
    const mutant = mutate(seeds[i % seeds.length]!, random);
    const name = `mutant ${i} of series ${seed}`;
    try {
      for await (const some of parquetRows(await openParquet(mutant), name)) assert.ok(some.length <= 1024);
      read++;
    } catch (error) {
      assert.ok(error instanceof SourceNotFoundError, `${name}: ${(error as Error).stack}`);
      assert.doesNotMatch(error.message, /undefined|null|NaN|DataView|is not a function|Cannot |BigInt/, name);
    }
    const moreBytes = process.memoryUsage.rss() - startBytes;
    assert.ok(moreBytes < mostBytes, `${name} takes ${moreBytes} bytes`);
  }
  assert.ok(read > 0 && read < count);
});
