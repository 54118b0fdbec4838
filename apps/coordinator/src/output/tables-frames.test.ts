import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { writeVarints } from '@halogrid/proto/varints';
import { FeatureReader } from '@halogrid/results/feature-reader';
import { noZone } from '@halogrid/results/found-shard';
import { SourceList } from '@halogrid/results/source-list';
import type { CaptureOptions } from '@halogrid/sources/captured';
import { packSources } from '@halogrid/sources/pack-sources';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import type { SettledRow, SettledRun } from '../ledger/ledger.ts';
import { FrameRows } from '../log/frame-rows.ts';
import { memoryFolder } from '../testing/memory-folder.ts';
import { atOnce } from './output-wait.ts';
import { TablesFile } from './tables-file.ts';
import { type TablesTask, tablePaths } from './tables-order.ts';

const shape = { grid: { rows: 1, columns: 2 }, channels: 1, bins: 3 };

const uris = fc
  .tuple(
    fc.constantFrom('file:///in/', 'file:///in/A-', 's3://bucket/', 'https://user:secret@host/a?key=secret&n='),
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('1.jpg', 'B/2.jpg', '.3.jpg', '10.JPG', '"4\\.jpg', 'a.b'),
    ),
  )
  .map((parts) => parts.join(''));
const frame = fc.record({
  /** Frames of images and of recordings may be in one block. */
  video: fc.option(
    fc.record(
      { frame: fc.nat(9), timestampMs: fc.option(fc.integer({ min: 0, max: 1e6 })) },
      { noNullPrototype: true },
    ),
    { nil: undefined },
  ),
  uri: uris,
  ownName: fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined }),
  version: fc.option(fc.constantFrom('7 1700000000123.25', '"etag" 7', 'é'), { nil: undefined }),
  captured: fc.option(fc.record({ localMs: fc.nat(), offsetMinutes: fc.constantFrom(-90, 0, noZone) }), {
    nil: undefined,
  }),
  size: fc.record({ width: fc.integer({ min: 1, max: 9 }), height: fc.integer({ min: 1, max: 9 }) }),
  counts: fc.array(fc.nat(100_000), { minLength: 6, maxLength: 6 }),
});
const rules: CaptureOptions[] = [
  { from: '', zone: '' },
  { from: '', zone: 'UTC' },
  { from: 'mtime', zone: '' },
  { from: 'in/{camera}-', zone: '' },
];

test('frames have the rows and lines by columns that they have one by one', async (t) => {
  const folder = await mkdtemp(join(memoryFolder, 'halogrid-frames-'));
  t.after(() => rm(folder, { recursive: true }));
  const job = fc.record({
    frames: fc.array(frame, { minLength: 1, maxLength: 30 }),
    skipped: fc.nat(3),
    captured: fc.option(fc.constantFrom(...rules), { nil: undefined }),
    isTimed: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(job, async ({ frames, skipped, captured, isTimed }) => {
      const spool = join(folder, 'spool');
      const rows = new FrameRows(frames.length, isTimed);
      const counts = new Uint8Array(8 * 6 * frames.length);
      let at = 0;
      const sources = frames.map(({ uri, ownName, version, size, ...of }, row): SettledRow => {
        const end = writeVarints(of.counts, counts, at);
        rows.counted[row] = 5;
        rows.widths[row] = size.width;
        rows.heights[row] = size.height;
        rows.lengths[row] = end - at;
        rows.checksums[row] = crc32(counts.subarray(at, end));
        rows.digests.fill(row, 32 * row, 32 * (row + 1));
        if (isTimed) {
          rows.localMs![row] = of.captured?.localMs ?? Number.NaN;
          rows.offsetMinutes![row] = of.captured?.offsetMinutes ?? 0;
        }
        const place = { offset: at, length: end - at, checksum: rows.checksums[row]! };
        at = end;
        const { localMs = 0, offsetMinutes = noZone } = of.captured ?? {};
        const stated = { localMs, ...(offsetMinutes !== noZone && { offsetMinutes }) };
        return {
          ...{
            index: row,
            uri,
            name: ownName ?? uri.slice(uri.indexOf('/in/') + 4),
            state: 'done',
            ...size,
            counted: 5,
          },
          digest: Buffer.alloc(32, row).toString('hex'),
          ...(version !== undefined && { version }),
          ...(of.video && { video: of.video }),
          ...(isTimed && of.captured && { captured: stated }),
          place,
        };
      });
      const block = packSources(
        sources.map(({ index, uri, name, version, video }) => {
          const its = { ...(version !== undefined && { version }), ...(video && { video }) };
          return { index, uri, name, sizeBytes: 7, ...its };
        }),
      );
      await writeFile(spool, [counts.subarray(0, at), rows.bytes, block]);
      const stored = {
        ...{ runs: Float64Array.of(0, frames.length), isTimed, offset: 0, countsBytes: at },
        ...{ rowsBytes: rows.bytes.length, rowsChecksum: crc32(rows.bytes) },
      };
      const from = Math.min(skipped, frames.length - 1);
      const planned = { file: spool, offset: at + rows.bytes.length, length: block.length, nth: from };
      const run: SettledRun = {
        ...{ kind: 'frames', file: spool, first: from, count: frames.length - from, planned, stored, row: from },
        ...{ goesByMtime: false, hasHistograms: true },
      };
      const before: SettledRun = { kind: 'sources', sources: sources.slice(0, from), file: spool };
      const byColumns = await write(join(folder, 'columns'), [before, run], frames.length, captured);
      const one = await write(
        join(folder, 'rows'),
        [{ kind: 'sources', sources, file: spool }],
        frames.length,
        captured,
      );
      assert.deepEqual(byColumns.summary, one.summary);
      assert.deepEqual(byColumns.lines, one.lines);
      assert.deepEqual(byColumns.features, one.features);
      assert.ok(byColumns.bytes!.equals(one.bytes!));

      // Few sources and counts are enough for rows and for a folder.
      const limits = { wholeCounts: 6, partCounts: 6, lines: 1 };
      const many = await write(join(folder, 'many'), [before, run], frames.length, captured, limits);
      const file = frames.length > 1 ? 'sources.parquet' : 'sources.jsonl';
      assert.deepEqual(many.summary, { ...one.summary, file });
      assert.deepEqual([many.lines, many.features], [one.lines, one.features]);
    }),
    { numRuns: repeated(8, 25) },
  );
});

/** The tables of a job whose sources are all settled. */
async function write(
  folder: string,
  runs: SettledRun[],
  sources: number,
  captured: CaptureOptions | undefined,
  limits?: TablesTask['limits'],
) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'scratch'), { recursive: true });
  const pathsIn = (place: string) => tablePaths((file) => join(place, file));
  const tables = new TablesFile({
    ...{ paths: pathsIn(folder), unfinished: pathsIn(join(folder, 'scratch')), shape },
    ...(captured && { captured }),
    ...(limits && { limits }),
    settled: async () => ({ next: sources, runs }),
    failed: () => {},
    until: atOnce,
  });
  const summary = await tables.finish(sources, {});
  const { features } = pathsIn(folder);
  const reader = (await FeatureReader.open(features))!;
  assert.equal((await stat(features)).isDirectory(), limits !== undefined && sources > 1);
  const rows = [];
  for (let row = 0; row < reader.rows; row++) rows.push(await reader.histogram(row));
  const bytes = limits ? undefined : await readFile(features);
  return { summary, bytes, features: rows, lines: await Array.fromAsync((await SourceList.open(folder))!.lines()) };
}
