import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { featureFiles, readRows, rowsOf, type WrittenSource } from '../testing/feature-rows.ts';
import { temporaryFolder } from '../testing/maps.ts';
import type { PlacedPage } from './encode-page.ts';
import { FeatureFiles } from './feature-files.ts';
import { type FeatureGroup, FeatureGroups } from './feature-groups.ts';
import { type FeatureShape, type FeatureSource, FeatureWriter, type FileLimits } from './feature-writer.ts';
import { pageLayout } from './page-layout.ts';
import { PageMaker } from './page-maker.ts';

const int32 = fc.nat({ max: 2 ** 31 - 1 });
const text = fc.string({ unit: 'grapheme' });

interface Job {
  shape: FeatureShape;
  /** The sources that are not quarantined. */
  sources: WrittenSource[];
  /** How many sources there are with quarantined ones. */
  listed: number;
}

const jobs = (count: fc.Arbitrary<number>, mostBins = 300): fc.Arbitrary<Job> =>
  fc
    .record({
      rows: fc.constantFrom(1, 1, 2),
      columns: fc.constantFrom(1, 1, 3),
      bins: fc.integer({ min: 1, max: mostBins }),
    })
    .chain(({ rows, columns, bins }) => {
      const cells = rows * columns;
      const facts = fc.record(
        {
          // Pages begin at every 16th number and less often.
          number: fc.oneof(
            fc.nat(600),
            fc.nat(40).map((page) => 16 * page),
            fc.nat(40).map((page) => 16 * page + 15),
          ),
          source: text,
          name: text,
          frame: int32,
          timestampMs: fc.option(fc.double({ min: 0, noNaN: true }), { nil: null }),
          capturedAtMs: fc.option(fc.integer({ min: -62135596800000, max: 253402300799999 }), { nil: null }),
          camera: fc.option(text, { nil: null }),
        },
        { noNullPrototype: true },
      );
      const histogram = fc.array(count, { minLength: bins, maxLength: bins });
      const cell = fc.record({ counted: fc.maxSafeNat(), histogram }, { noNullPrototype: true });
      const source = fc.record({ facts, cells: fc.array(cell, { minLength: cells, maxLength: cells }) });
      return fc.record({
        shape: fc.constant({ grid: { rows, columns }, bins }),
        some: fc.array(source, { maxLength: 25 }),
      });
    })
    .map(({ shape, some }) => {
      const byNumber = new Map(some.map((source) => [source.facts.number, source]));
      const sources = [...byNumber.values()].sort((a, b) => a.facts.number - b.facts.number);
      return { shape, sources, listed: (sources.at(-1)?.facts.number ?? -1) + 3 };
    });

test('another reader finds the rows as they were added, and equal rows give equal bytes', async (t) => {
  const folder = await temporaryFolder(t);
  await fc.assert(
    fc.asyncProperty(jobs(int32), async (job) => {
      const path = await write(folder, job);
      assert.deepEqual(await readRows(path), rowsOf(job.sources, job.shape.grid.columns));
      assert.equal(await typeOfCounts(path), 'INT32');
      const bytes = await readFile(path);
      assert.ok(bytes.equals(await readFile(await write(folder, job))));
    }),
    { numRuns: repeated(5, 30) },
  );
});

test('counts above 2^31 - 1 are kept', async (t) => {
  const folder = await temporaryFolder(t);
  await fc.assert(
    fc.asyncProperty(jobs(fc.oneof(int32, fc.maxSafeNat())), async (job) => {
      const path = await write(folder, job);
      assert.deepEqual(await readRows(path), rowsOf(job.sources, job.shape.grid.columns));
      const counts = job.sources.flatMap(({ cells }) => cells.flatMap(({ histogram }) => Array.from(histogram)));
      const isWide = counts.some((count) => count >= 2 ** 31);
      assert.equal(await typeOfCounts(path), isWide ? 'INT64' : 'INT32');
    }),
    { numRuns: repeated(5, 30) },
  );
});

test('counts that are given as varints make the same rows as the same numbers', async (t) => {
  const folder = await temporaryFolder(t);
  const count = fc.oneof(fc.nat(300), fc.nat(2 ** 15), fc.nat({ max: 2 ** 29 }), fc.maxSafeNat());
  await fc.assert(
    fc.asyncProperty(jobs(count), fc.nat(5), async ({ shape, sources, listed }, before) => {
      const path = join(folder, 'packed.parquet');
      const maker = new PageMaker(shape);
      const files = await FeatureFiles.create(path, maker.layout);
      const groups = new FeatureGroups(maker.layout);
      const write = async (group: FeatureGroup | undefined) => void (group && (await files.append(group)));
      const append = async (page: PlacedPage | undefined) => void (page && (await write(groups.add(page))));
      for (const { facts, cells } of sources) {
        const counts = cells.flatMap(({ histogram }) => Array.from(histogram).flatMap(varint));
        const bytes = Uint8Array.from([...Array<number>(before).fill(255), ...counts]);
        maker.load(bytes);
        await append(maker.begin(facts));
        let at = before;
        for (const _ of cells) {
          at = maker.addPacked(at, 1);
          if (maker.isFull) await append(maker.end());
        }
        assert.equal(at, bytes.length);
      }
      await append(maker.end());
      await write(groups.end());
      await files.finish(listed, {});
      // The first channel, which has one bin here, says how many pixels are counted.
      const ofFirstBin = sources.map(({ facts, cells }) => {
        return { facts, cells: cells.map(({ histogram }) => ({ histogram, counted: histogram[0]! })) };
      });
      assert.deepEqual(await readRows(path), rowsOf(ofFirstBin, shape.grid.columns));
    }),
    { numRuns: repeated(5, 30) },
  );
});

test('a source that is left out shifts nothing: the bytes of other pages stay, and an empty page is left out', async (t) => {
  const folder = await temporaryFolder(t);
  const of = (numbers: number[]): Job => ({ shape, sources: numbers.map((number) => sourceOf(number)), listed: 2000 });
  const all = await pagesOf(await write(folder, of([...Array(2000).keys()])));
  // Pages of 128 sources, row groups of 1024.
  assert.deepEqual(
    all.map(({ rows }) => rows),
    [...Array<number>(15).fill(128), 80],
  );
  const table: [without: (number: number) => boolean, changed: number[], gone: number[]][] = [
    [(number) => number === 0, [0], []],
    [(number) => number === 127, [0], []],
    [(number) => number === 128 || number === 1023, [1, 7], []],
    [(number) => number === 1999, [15], []],
    [(number) => number >= 128 && number < 384, [], [1, 2]],
    [(number) => number < 1024, [], [0, 1, 2, 3, 4, 5, 6, 7]],
  ];
  for (const [isOut, changed, gone] of table) {
    const job = of([...Array(2000).keys()].filter((number) => !isOut(number)));
    const path = await write(folder, job);
    assert.deepEqual(await readRows(path), rowsOf(job.sources, 1));
    const kept = all.filter((_, page) => !gone.includes(page));
    const pages = await pagesOf(path);
    assert.equal(pages.length, kept.length);
    for (const [i, { bytes }] of pages.entries()) {
      const page = all.indexOf(kept[i]!);
      assert.equal(bytes.equals(kept[i]!.bytes), !changed.includes(page), `page ${page}`);
    }
  }
});

test('a job with more counts is a folder, and each file equals that of a job with its sources alone', async (t) => {
  const folder = await temporaryFolder(t);
  const limits = { wholeCounts: 500, partCounts: 200 };
  const few = jobs(fc.oneof(fc.nat(9), int32, fc.maxSafeNat()), 4);
  await fc.assert(
    fc.asyncProperty(few, fc.boolean(), async (job, hasFew) => {
      const { grid, bins } = job.shape;
      const { wholeSources, partSources } = pageLayout(grid.rows * grid.columns, bins, limits);
      // Also a job that has that many sources only because of quarantined ones at its end.
      if (hasFew) job.listed = wholeSources + 1;
      const sources = job.sources.filter(({ facts }) => facts.number < job.listed);
      const path = await write(folder, { ...job, sources }, limits);
      assert.deepEqual(await readRows(path), rowsOf(sources, grid.columns));
      const files = await featureFiles(path);
      if (job.listed <= wholeSources) return assert.deepEqual(files, [path]);
      const firsts = files.map((file) => Number(/(\d{12})\.parquet$/.exec(file)![1]));
      const withRows = sources.map(({ facts }) => facts.number - (facts.number % partSources));
      assert.deepEqual(firsts, [...new Set([0, ...withRows])]);
      const isWide = (await typeOfCounts(files[0]!)) === 'INT64';
      for (const [i, first] of firsts.entries()) {
        const own = sources.filter(({ facts }) => facts.number >= first && facts.number < first + partSources);
        assert.equal((await typeOfCounts(files[i]!)) === 'INT64', isWide);
        const alone = await write(folder, { ...job, sources: own }, undefined, 'alone.parquet');
        // The type of counts depends on the whole job.
        if ((await typeOfCounts(alone)) === 'INT64' || !isWide) {
          assert.ok((await readFile(files[i]!)).equals(await readFile(alone)));
        }
      }
    }),
    { numRuns: repeated(10, 100) },
  );
});

test('one count above 2^31 - 1 makes the counts of every row group int64, and other pages stay as they are', async (t) => {
  const folder = await temporaryFolder(t);
  // With 4096 bins, 8 sources are a page. The differences are as large as possible.
  const extremes = Float64Array.from({ length: 4096 }, (_, i) => (i % 2 ? 2 ** 31 - 1 : 0));
  const wide = { ...shape, bins: 4096 };
  const sources = Array.from({ length: 200 }, (_, number) => sourceOf(number, extremes));
  const narrow = await pagesOf(await write(folder, { shape: wide, sources, listed: 200 }));
  const larger = extremes.slice();
  larger[7] = 2 ** 40;
  sources[100] = sourceOf(100, larger);
  const path = await write(folder, { shape: wide, sources, listed: 200 });
  const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  const types = row_groups.map(({ columns }) => columns.at(-1)!.meta_data!.type);
  assert.deepEqual(types, ['INT64', 'INT64', 'INT64', 'INT64']);
  assert.deepEqual(await readRows(path), rowsOf(sources, 1));
  const differ = (await pagesOf(path)).flatMap(({ bytes }, page) => (bytes.equals(narrow[page]!.bytes) ? [] : [page]));
  assert.deepEqual(differ, [12]);
});

test('an image with more cells than a page has is cut at fixed cells', async (t) => {
  const grid = { rows: 20, columns: 30 };
  const cell = (number: number, i: number) => ({
    counted: i,
    histogram: Array.from({ length: 256 }, (_, bin) => number + i + bin),
  });
  const sources = [0, 2, 3].map((number) => {
    return { ...sourceOf(number), cells: Array.from({ length: 600 }, (_, i) => cell(number, i)) };
  });
  const path = await write(await temporaryFolder(t), { shape: { grid, bins: 256 }, sources, listed: 4 });
  assert.deepEqual(
    (await pagesOf(path)).map(({ rows }) => rows),
    [...Array(3)].flatMap(() => [128, 128, 128, 128, 88]),
  );
  const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  assert.deepEqual(
    row_groups.map(({ num_rows }) => num_rows),
    [600n, 600n, 600n],
  );
  assert.deepEqual(await readRows(path), rowsOf(sources, 30));
});

test('the file has its columns, and the footer lists many row groups as it lists few', async (t) => {
  const folder = await temporaryFolder(t);
  // Each row has more counts than a page should have, and eight rows are a row group.
  const histogram = new Uint8Array(2 ** 15 + 1);
  for (const groups of [0, 1, 14, 15, 130]) {
    const sources = Array.from({ length: groups }, (_, group) => sourceOf(8 * group, histogram));
    const path = await write(folder, { shape: { ...shape, bins: histogram.length }, sources, listed: 8 * groups });
    const { row_groups, num_rows, created_by, schema } = await parquetMetadataAsync(await asyncBufferFromFile(path));
    assert.deepEqual([row_groups.length, num_rows, created_by], [groups, BigInt(groups), 'halogrid']);
    for (const [group, { columns, num_rows: one }] of row_groups.entries()) {
      assert.deepEqual([one, columns.length, columns[2]!.meta_data!.statistics!.max_value], [1n, 10, 8 * group]);
    }
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
  }
});

test('each row group has the least and the largest value of its columns, texts in the order of their UTF-8', async (t) => {
  // In UTF-16 the second comes before the first. The last is in another page.
  const texts = ['\uff5e', '\u{1f600}', 'b', 'a'];
  const sources = texts.map((source, i): WrittenSource => {
    const number = i === 3 ? 200 : i;
    return {
      ...sourceOf(i),
      facts: { ...sourceOf(number).facts, source, camera: i ? source : null, timestampMs: i ? i / 2 : null },
    };
  });
  const path = await write(await temporaryFolder(t), { shape, sources, listed: 201 });
  const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(path));
  assert.equal(row_groups.length, 1);
  const limits = row_groups[0]!.columns.map(({ meta_data }) => {
    const { min_value, max_value, null_count } = meta_data!.statistics!;
    return [meta_data!.path_in_schema[0], min_value, max_value, null_count];
  });
  assert.deepEqual(limits, [
    ['source', 'a', '\u{1f600}', 0n],
    ['name', 'name', 'name', 0n],
    ['frame', 0, 200, 0n],
    ['timestamp_ms', 0.5, 1.5, 1n],
    ['captured_at', undefined, undefined, 4n],
    ['camera', 'a', '\u{1f600}', 1n],
    ['cell_row', 0, 0, 0n],
    ['cell_col', 0, 0, 0n],
    ['counted', 9n, 9n, 0n],
    ['histogram', undefined, undefined, 0n],
  ]);
});

test('counts that shrink are compressed, and others are only packed', async (t) => {
  const folder = await temporaryFolder(t);
  const noise = randomBytes(4 * 1024 * 40);
  const table: [string, (number: number, bin: number) => number][] = [
    ['SNAPPY', () => 0],
    ['UNCOMPRESSED', (number, bin) => noise.readUInt32LE(4 * (1024 * number + bin)) >>> 1],
    // A page of each kind.
    ['SNAPPY', (number, bin) => (number < 32 ? 7 : noise.readUInt32LE(4 * (1024 * number + bin)) >>> 1)],
  ];
  for (const [codec, countOf] of table) {
    const sources = Array.from({ length: 40 }, (_, number) => {
      return sourceOf(
        number,
        Float64Array.from({ length: 1024 }, (_, bin) => countOf(number, bin)),
      );
    });
    const path = await write(folder, { shape: { ...shape, bins: 1024 }, sources, listed: 40 });
    const { row_groups } = await parquetMetadataAsync(await asyncBufferFromFile(path));
    assert.equal(row_groups[0]!.columns.at(-1)!.meta_data!.codec, codec);
    assert.deepEqual(await readRows(path), rowsOf(sources, 1));
  }
});

test('numbers that do not fit are refused with one sentence', async (t) => {
  const writer = await FeatureWriter.create(join(await temporaryFolder(t), 'a.parquet'), { ...shape, bins: 2 });
  const of = (counted: number, ...histogram: number[]) => [{ counted, histogram }];
  const table: [Partial<FeatureSource>, ReturnType<typeof of>, RegExp][] = [
    [
      {},
      of(1, 1, 2 ** 53),
      /^Error: Expected integers from 0 to 9007199254740991 for histogram of 'file:\/\/\/0' but received 9007199254740992$/,
    ],
    [{}, of(1, 1), /^Error: Expected 2 bins for histogram of 'file:\/\/\/0' but received 1$/],
    [{}, [...of(1, 1, 1), ...of(1, 1, 1)], /^Error: Expected 1 cells of 'file:\/\/\/0' but received 2$/],
    [{ frame: -1 }, of(1, 1, 0), /for frame of .* received -1$/],
    [{ frame: 0.5 }, of(1, 1, 0), /for frame of .* received 0.5$/],
    [{ frame: 2 ** 31 }, of(1, 1, 0), /for frame of /],
    [{}, of(2 ** 60, 1, 0), /for counted of /],
  ];
  for (const [facts, cells, message] of table) {
    await assert.rejects(writer.add({ ...sourceOf(0).facts, ...facts }, cells), message);
  }
  await writer.abort();
});

test('every file has the description that is given at the end', async (t) => {
  const folder = await temporaryFolder(t);
  for (const limits of [undefined, { wholeCounts: 1, partCounts: 1 }]) {
    const path = join(folder, 'about.parquet');
    await rm(path, { recursive: true, force: true });
    const writer = await FeatureWriter.create(path, shape, limits);
    for (const number of [0, 5000]) {
      const { facts, cells } = sourceOf(number);
      await writer.add(facts, cells);
    }
    await writer.finish(5001, { halogrid: '{"digest":"é"}' });
    const files = await featureFiles(path);
    assert.equal(files.length, limits ? 2 : 1);
    for (const file of files) {
      const { key_value_metadata } = await parquetMetadataAsync(await asyncBufferFromFile(file));
      assert.deepEqual(key_value_metadata, [{ key: 'halogrid', value: '{"digest":"é"}' }]);
    }
    assert.equal((await readRows(path)).length, 2);
  }
});

test('the file or folder appears when it is finished, and an abort leaves nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const { facts, cells } = sourceOf(0);
  for (const limits of [undefined, { wholeCounts: 1, partCounts: 1 }]) {
    const writer = await FeatureWriter.create(join(folder, 'a.parquet'), shape, limits);
    await writer.add(facts, cells);
    assert.equal((await readdir(folder)).includes('a.parquet'), false);
    await writer.finish(2000);
    assert.deepEqual(await readdir(folder), ['a.parquet']);

    const aborted = await FeatureWriter.create(join(folder, 'b.parquet'), shape, limits);
    await aborted.add(facts, cells);
    await aborted.add({ ...facts, number: 5000 }, cells);
    await aborted.abort();
    await aborted.abort();
    assert.deepEqual(await readdir(folder), ['a.parquet']);
    await rm(join(folder, 'a.parquet'), { recursive: true });
  }
});

/** 7 bits a byte, the lowest first, with bit 7 set in all bytes but the last. */
const varint = (count: number): number[] =>
  count < 128 ? [count] : [(count % 128) + 128, ...varint(Math.floor(count / 128))];

const shape: FeatureShape = { grid: { rows: 1, columns: 1 }, bins: 256 };

function sourceOf(number: number, histogram: ArrayLike<number> = Array(256).fill(number % 5)): WrittenSource {
  const none = { timestampMs: null, capturedAtMs: null, camera: null };
  const facts = { number, source: `file:///${number}`, name: 'name', frame: number, ...none };
  return { facts, cells: [{ counted: 9, histogram }] };
}

async function write(folder: string, job: Job, limits?: FileLimits, name = 'features.parquet'): Promise<string> {
  const path = join(folder, name);
  await rm(path, { recursive: true, force: true });
  const writer = await FeatureWriter.create(path, job.shape, limits);
  for (const { facts, cells } of job.sources) await writer.add(facts, cells);
  await writer.finish(job.listed);
  return path;
}

async function typeOfCounts(path: string): Promise<string | undefined> {
  const { schema } = await parquetMetadataAsync(await asyncBufferFromFile((await featureFiles(path))[0]!));
  return schema.at(-1)!.type;
}

/** The pages of the histograms of a file in order. */
async function pagesOf(path: string): Promise<{ rows: number; bytes: Buffer }[]> {
  const buffer = await asyncBufferFromFile(path);
  const { row_groups } = await parquetMetadataAsync(buffer);
  const pages = [];
  for (const { columns } of row_groups) {
    const { data_page_offset, total_compressed_size } = columns.at(-1)!.meta_data!;
    const [start, size] = [Number(data_page_offset), Number(total_compressed_size)];
    const bytes = await buffer.slice(start, start + size);
    const reader = { view: new DataView(bytes), offset: 0 };
    while (reader.offset < size) {
      const from = reader.offset;
      const { data_page_header_v2, compressed_page_size } = parquetHeader(reader);
      reader.offset += compressed_page_size;
      pages.push({ rows: data_page_header_v2!.num_rows, bytes: Buffer.from(bytes.slice(from, reader.offset)) });
    }
  }
  return pages;
}
