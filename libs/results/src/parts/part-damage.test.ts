import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { within } from '@halogrid/testing';
import { columnPage } from '../features/column-page.ts';
import { type MadeJob, shardsOf } from '../testing/found-jobs.ts';
import { temporaryFolder } from '../testing/maps.ts';
import { finishParts, type Tables, writeAtOnce, writeParts } from '../testing/part-outputs.ts';
import type { FoundCounts, FoundShard } from './found-shard.ts';
import { PartError } from './part-error.ts';
import { type FoundInPart, PartWriter } from './part-writer.ts';
import type { SettledShard } from './range-finisher.ts';

const shape = { grid: { rows: 1, columns: 2 }, channels: 2, bins: 100 };

/** Three shards of two pipelines. The tests damage the second shard. Source 25 is quarantined. */
const job: MadeJob = {
  pipelines: [
    { name: 'one', shape },
    { name: 'other', shape: { ...shape, grid: { rows: 1, columns: 1 }, channels: 1, bins: 0 } },
  ],
  rule: { from: '', zone: '' },
  sources: Array.from({ length: 60 }, (_, index) => ({
    planned: { index, uri: `file:///in/${index}.png`, name: `${index}`, sizeBytes: 9 },
    size: index === 25 ? undefined : { width: 40, height: 40 },
    captured: { localMs: 1e12 + index },
  })),
  firsts: [0, 20, 40],
  partOf: [0, 1, 0],
  seed: 7,
  largest: 300,
};

const featuresFile = 'pipelines/one/features.parquet';
const listFile = 'pipelines/other/sources.parquet';

interface Damaged {
  folder: string;
  found: FoundInPart;
  /** The path of a file of the part. */
  pathOf(file: string): string;
}

/** Changes the part on disk, or resolves with another answer. */
type Damage = (of: Damaged) => Promise<unknown>;

/** Writes a changed shard, as a faulty or lying node would, and answers as if the shard had not been changed. */
const lie =
  (change: (shard: FoundShard) => FoundShard): Damage =>
  async ({ folder, found }) => {
    const writer = await PartWriter.create(join(folder, 'parts'), job.pipelines, job.rule);
    const { part, places } = await writer.add(change(shardsOf(job)[1]!));
    await writer.finish();
    return { ...found, part, places };
  };

/** Changes the bytes of the shard in a file, and answers with their checksum. */
const forge =
  (change: (bytes: Buffer) => Buffer): Damage =>
  async ({ found, pathOf }) => {
    const path = pathOf(featuresFile);
    const { start, length } = found.places[0]!.features!;
    const bytes = await readFile(path);
    const own = change(Buffer.from(bytes.subarray(start, start + length)));
    await writeFile(path, Buffer.concat([bytes.subarray(0, start), own, bytes.subarray(start + length)]));
    return placed(found, { length: own.length, checksum: crc32(own) });
  };

const placed = (found: FoundInPart, place: object): FoundInPart => {
  const [one, ...others] = structuredClone(found.places);
  return { ...found, places: [{ ...one!, features: { ...one!.features!, ...place } }, ...others] };
};

const damages: Record<string, [RegExp, Damage]> = {
  'the part is gone': [
    /cannot be read: ENOENT: no such file or directory/,
    ({ folder, found }) => rm(join(folder, 'parts', found.part), { recursive: true }),
  ],
  'a file is gone': [/cannot be read: ENOENT/, ({ pathOf }) => rm(pathOf(listFile))],
  'a file is cut': [
    /is damaged: pipelines\/one\/features\.parquet ends early/,
    ({ found, pathOf }) => truncate(pathOf(featuresFile), found.places[0]!.features!.start + 100),
  ],
  'a file is empty': [
    /is damaged: pipelines\/other\/sources\.parquet ends early/,
    ({ pathOf }) => truncate(pathOf(listFile)),
  ],
  'a bit is another': [
    /is damaged: pipelines\/one\/features\.parquet has another checksum/,
    async ({ found, pathOf }) => {
      const bytes = await readFile(pathOf(featuresFile));
      // This byte belongs to the URIs of the sources, which are passed over.
      bytes[found.places[0]!.features!.start + 40]! ^= 1;
      await writeFile(pathOf(featuresFile), bytes);
    },
  ],
  'a file is a link': [
    /cannot be read: there is a link on the way to '.*features\.parquet'/,
    async ({ folder, pathOf }) => {
      await rename(pathOf(featuresFile), join(folder, 'elsewhere'));
      await symlink(join(folder, 'elsewhere'), pathOf(featuresFile));
    },
  ],
  'the part is a link': [
    /cannot be read: there is a link on the way/,
    async ({ folder, found }) => {
      await rename(join(folder, 'parts', found.part), join(folder, 'elsewhere'));
      await symlink(join(folder, 'elsewhere'), join(folder, 'parts', found.part));
    },
  ],
  'a file is a pipe': [
    /cannot be read: '.*features\.parquet' is not a file/,
    async ({ pathOf }) => {
      await rm(pathOf(featuresFile));
      await promisify(execFile)('mkfifo', [pathOf(featuresFile)]);
    },
  ],
  'a file is a folder': [
    /cannot be read: '.*features\.parquet' is not a file/,
    async ({ pathOf }) => {
      await rm(pathOf(featuresFile));
      await mkdir(pathOf(featuresFile));
    },
  ],
  'a part is said to be elsewhere': [
    /has a name that no part has/,
    async ({ folder, found }) => {
      await cp(join(folder, 'parts', found.part), join(folder, 'elsewhere'), { recursive: true });
      return { ...found, part: '../elsewhere' };
    },
  ],
  'a place is missing': [
    /has no place in pipelines\/other\/sources\.parquet for the shard/,
    async ({ found }) => ({ ...found, places: found.places.slice(0, 1) }),
  ],
  'a place begins before the file': [/has no place in/, async ({ found }) => placed(found, { start: -1 })],
  'a place has petabytes': [/ends early/, async ({ found }) => placed(found, { length: 2 ** 50 })],
  'a place has more than the shard': [
    /has \d+ bytes behind its rows/,
    async ({ found }) => placed(found, { length: found.places[0]!.features!.length + 9 }),
  ],
  'a place has less than the shard': [
    /ends early/,
    async ({ found }) => placed(found, { length: found.places[0]!.features!.length - 9 }),
  ],
  'another checksum is said': [/has another checksum/, async ({ found }) => placed(found, { checksum: 0 })],
  'a page has far more than its rows': [
    /has a page of \d+ bytes, more than \d+/,
    forge(() => {
      // Ten columns. The last one consists of zeros, which Snappy has made small.
      const page = (values: number) =>
        columnPage(38, { encoding: 'PLAIN', values, nulls: 0, data: new Uint8Array(8 * values) }).bytes;
      return Buffer.concat([...Array(9).fill(page(38)), page(2 ** 18)]);
    }),
  ],
  'pages have fewer rows': [/has a page of 37 rows instead of 38/, forge((bytes) => rowsAre(bytes, 38, 37))],
  'there are other bytes than pages': [
    /is damaged: pipelines\/one\/features\.parquet has a page/,
    forge((bytes) => Buffer.alloc(bytes.length, 255)),
  ],
  'rows belong to another shard': [
    /has results of another digest than was answered/,
    async ({ folder, found }) => {
      const writer = await PartWriter.create(join(folder, 'parts'), job.pipelines, job.rule);
      const [first, second] = [shardsOf(job)[0]!, shardsOf(job)[1]!];
      // Equally many sources, at other places.
      const found19 = second.found.length;
      const { part, places } = await writer.add({ ...first, ...cutTo(first, found19), found: second.found });
      await writer.finish();
      return { ...found, part, places };
    },
  ],
  'a source is quarantined': [
    /has 18 found instead of 19/,
    lie((shard) => ({ ...shard, ...cutTo(shard, 18), found: shard.found.slice(0, 18) })),
  ],
  'another source is quarantined': [
    /has results of another digest than was answered/,
    lie((shard) => ({ ...shard, found: Uint32Array.from({ length: 19 }, (_, i) => i) })),
  ],
  'an image has another size': [
    /has \d+ pixels instead of \d+/,
    lie((shard) => ({ ...shard, widths: shard.widths.with(3, 41) })),
  ],
  'an image is turned': [
    /has results of another digest/,
    lie((shard) => ({ ...shard, widths: shard.widths.with(3, 80), heights: shard.heights.with(3, 20) })),
  ],
  'an image has no pixels': [
    /has a source that is 0 pixels wide or high/,
    lie((shard) => ({ ...shard, widths: shard.widths.with(3, 0) })),
  ],
  'a bin counts one more': [
    /has a result of source 20 that has \d+ pixels in channel 0 of a cell but \d+ in channel 1/,
    lie((shard) => ofBins(shard, (bins) => bins.with(0, bins[0]! + 1))),
  ],
  'a pixel is in another bin': [
    /has results of another digest/,
    lie((shard) =>
      ofBins(shard, (bins) => {
        const [from, to] = [bins.findIndex((count) => count > 0), bins.indexOf(0)];
        return bins.with(from, bins[from]! - 1).with(to, 1);
      }),
    ),
  ],
  'more pixels are counted than there are': [
    /has a result of source 20 that counts 5000 of 1600 pixels/,
    lie((shard) => ({
      ...shard,
      parts: countsOf(shard).map((its) => ({ ...its, counted: its.counted.with(0, 5000) })),
    })),
  ],
};

test('a part that is damaged, or differs from the answer, is refused with one sentence, and another one takes its place', async (t) => {
  const folder = await temporaryFolder(t);
  const expected: Tables[] = [];
  for (const pipeline of job.pipelines) expected.push(await writeAtOnce(folder, job, pipeline));
  for (const [name, [message, damage]] of Object.entries(damages)) {
    await rm(join(folder, 'parts'), { recursive: true, force: true });
    await rm(join(folder, 'elsewhere'), { recursive: true, force: true });
    const shards = await writeParts(folder, job);
    const found = shards[1]!.found!;
    const pathOf = (file: string) => join(folder, 'parts', found.part, file);
    let other: SettledShard[] = [];
    const tables = await finishParts(folder, job, shards, async (finisher, shard) => {
      if (shard === shards[1]) {
        const bad = ((await damage({ folder, found, pathOf })) as FoundInPart | undefined) ?? found;
        const refused = (error: Error): boolean => {
          assert.ok(error instanceof PartError, `${name}: ${error}`);
          assert.match(error.message, /^Part '[^']*' [^\n]*$/, name);
          assert.match(error.message, message, name);
          return true;
        };
        await assert.rejects(within('a refusal', finisher.add({ ...shard, found: bad })), refused, name);
        other = await writeParts(folder, job);
      }
      const nth = shards.indexOf(shard);
      await finisher.add(nth === 0 ? shard : other[nth]!);
    });
    for (const [i, { list, features }] of expected.entries()) {
      assert.ok(tables[i]!.list.equals(list), name);
      assert.ok(!features || tables[i]!.features!.equals(features), name);
    }
  }
});

test('a shard is refused if any of its bytes differs; other bytes of the file do not matter, also footers', async (t) => {
  const folder = await temporaryFolder(t);
  const [shard] = (await writeParts(folder, job)).slice(1, 2);
  const { part } = shard!.found!;
  for (const [file, place] of [
    [featuresFile, shard!.found!.places[0]!.features!],
    [listFile, shard!.found!.places[1]!.sources],
  ] as const) {
    const path = join(folder, 'parts', part, file);
    const good = await readFile(path);
    const { start, length } = place;
    const read = async (bytes: Buffer) => {
      await writeFile(path, bytes);
      await finishParts(folder, { ...job, firsts: [0] }, [shard!]);
    };
    for (let at = 0; at < good.length; at += at >= start && at < start + length ? 97 : 301) {
      const bytes = Buffer.from(good);
      bytes[at]! ^= 1 << (at % 8);
      if (at >= start && at < start + length) await assert.rejects(read(bytes), PartError, `${file} ${at}`);
      else await read(bytes);
    }
    await read(good);
  }
});

/** The counts of all pipelines, none of them known before. */
const countsOf = ({ parts }: FoundShard): FoundCounts[] => parts.map((its) => its!);

/** The columns of a shard, cut to its first `found` sources. */
function cutTo(shard: FoundShard, found: number): Pick<FoundShard, 'widths' | 'heights' | 'captured' | 'parts'> {
  return {
    widths: shard.widths.slice(0, found),
    heights: shard.heights.slice(0, found),
    captured: shard.captured && {
      localMs: shard.captured.localMs.slice(0, found),
      offsetMinutes: shard.captured.offsetMinutes.slice(0, found),
    },
    parts: countsOf(shard).map(({ counted, bins }) => ({
      counted: counted.slice(0, found),
      bins: bins.slice(0, (bins.length / counted.length) * found),
    })),
  };
}

function ofBins(shard: FoundShard, change: (bins: Float64Array) => Float64Array): FoundShard {
  const [{ counted, bins }, ...others] = countsOf(shard) as [FoundCounts, ...FoundCounts[]];
  return { ...shard, parts: [{ counted, bins: change(Float64Array.from(bins)) }, ...others] };
}

/**
 * Changes the number of rows in the first header of a page. It follows the numbers of values and nulls; each is a field
 * with twice the number.
 */
function rowsAre(bytes: Buffer, rows: number, other: number): Buffer {
  const field = 0x15;
  bytes[bytes.indexOf(Buffer.of(field, 2 * rows, field, 0, field, 2 * rows)) + 5] = 2 * other;
  return bytes;
}
