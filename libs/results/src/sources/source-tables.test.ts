import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CaptureRule } from '@halogrid/sources/captured';
import fc from 'fast-check';
import { ListedSources, mostListed } from './listed-sources.ts';
import { RangeSources } from './range-sources.ts';
import { groupsOfList } from './source-groups.ts';
import type { SourceLine } from './source-line.ts';
import { SourceList } from './source-list.ts';
import { SourceTables } from './source-tables.ts';

type DoneLine = Exclude<SourceLine, { quarantined: true }>;

const done: DoneLine = {
  uri: 'file:///a.jpg',
  name: 'a.jpg',
  width: 3,
  height: 2,
  counted: 1,
  digest: '00'.repeat(32),
};
const broken: SourceLine = { uri: 'file:///b.jpg', quarantined: true };
const gone = { stage: 'read', error: 'It is gone', attempts: 2 };

/** Writes tables in pieces that end before the sources of `ends`. From source `rowsFrom` on, pieces are row groups. */
async function write(
  t: TestContext,
  rows: readonly SourceLine[],
  { rule = new CaptureRule(), ends = [], rowsFrom }: { rule?: CaptureRule; ends?: number[]; rowsFrom?: number } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-tables-'));
  t.after(() => rm(folder, { recursive: true }));
  const pathOf = (name: string) => join(folder, name);
  const paths = { sources: pathOf('sources.jsonl'), rows: pathOf('sources.parquet'), errors: pathOf('errors.jsonl') };
  const tables = await SourceTables.create(paths);
  const range = new RangeSources(rule);
  const append = async (): Promise<void> => {
    range.end();
    await tables.append(range.take());
  };
  for (const [index, row] of rows.entries()) {
    if (index === 0 || ends.includes(index)) {
      await append();
      const { lines, entries } = tables.written;
      if (index === rowsFrom) range.addRows(await groupsOfList(await SourceList.at(lines), 0, index));
      range.begin({ isRows: rowsFrom !== undefined && index >= rowsFrom, entries });
    }
    if (row.quarantined) range.add(row, gone);
    else range.add({ ...row, name: `name-${index}` });
  }
  await append();
  const summary = await tables.finish();
  const linesOf = async (path: string) =>
    (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  return {
    summary,
    files: (await readdir(folder)).sort(),
    lines: await Array.fromAsync((await SourceList.open(folder))!.lines()),
    paths,
    linesOf,
  };
}

test('done sources are counted by the origin of their capture times', async (t) => {
  const zoneless = '1970-01-01T00:00:00.000';
  const video = (frame: number, timestampMs: number | null): Partial<DoneLine> => {
    return { uri: 'file:///c.mp4', frame, timestampMs, captured: zoneless };
  };
  const rows: SourceLine[] = [
    { ...done, uri: 'file:///20260131.jpg', captured: zoneless },
    { ...done, captured: '1970-01-01T00:00:00.000+01:00' },
    { ...done, ...video(0, 0) },
    { ...done, ...video(1, null) },
    broken,
  ];
  const count = async (from: string, zone: string) =>
    (await write(t, rows, { rule: new CaptureRule({ from, zone }) })).summary.captured;
  assert.deepEqual(await count('', 'UTC'), { exif: 2, container: 1, unknown: 1 });
  assert.deepEqual(await count('', ''), { zoneless: 2, exif: 1, unknown: 1 });
  assert.deepEqual(await count('%Y%m%d', '+02:00'), { name: 1, unknown: 3 });
  assert.deepEqual(await count('%Y%m%d', ''), { zoneless: 1, unknown: 3 });
});

test('each of thousands of sources has its line, and errors have a file', async (t) => {
  const rows = Array.from({ length: 9000 }, (_, i): SourceLine => {
    const uri = `file:///${'ü'.repeat(i % 7)}${i}`;
    return i % 100 === 99 ? { ...broken, uri } : { ...done, uri, version: `${i} 1` };
  });
  for (const [rowsFrom, list] of [
    [undefined, 'sources.jsonl'],
    [8192, 'sources.parquet'],
    [0, 'sources.parquet'],
  ] as const) {
    const cut = { ends: [1, 8192], rowsFrom };
    const { summary, files, lines, paths, linesOf } = await write(t, rows, cut);
    assert.deepEqual([files, summary.file], [['errors.jsonl', list], list]);
    assert.deepEqual(
      lines.map(({ uri, version, quarantined }) => [uri, version, quarantined]),
      rows.map((row) => [row.uri, row.version, row.quarantined]),
    );
    const errors = await linesOf(paths.errors);
    assert.deepEqual(
      [errors.length, errors[0]],
      [90, { uri: rows[99]!.uri, frame: 0, stage: 'read', error: 'It is gone', attempts: 2 }],
    );
  }
  assert.deepEqual((await write(t, [done])).files, ['sources.jsonl']);
});

test('a video in job.json has the name of its first done frame, and no name if no frame is done', async (t) => {
  const frameOf = (uri: string, frame: number, of: SourceLine): SourceLine => ({
    ...of,
    uri,
    frame,
    timestampMs: null,
  });
  const { summary } = await write(t, [
    frameOf('file:///v.mp4', 0, broken),
    frameOf('file:///v.mp4', 1, done),
    frameOf('file:///w.mp4', 0, broken),
  ]);
  assert.deepEqual(
    summary.listed!.map((entry) => JSON.parse(entry)),
    [
      {
        uri: 'file:///v.mp4',
        name: 'name-1',
        frames: 1,
        width: 3,
        height: 2,
        pixels: 6,
        counted: 1,
        quarantinedFrames: 1,
      },
      { uri: 'file:///w.mp4', frames: 0, width: 0, height: 0, pixels: 0, counted: 0, quarantinedFrames: 1 },
    ],
  );
});

test('job.json has an entry per image and one for the frames of a video, up to ten thousand entries', async (t) => {
  const frame = (number: number): DoneLine => ({ ...done, uri: 'file:///v.mp4', frame: number, timestampMs: null });
  const { summary } = await write(t, [
    done,
    frame(0),
    frame(1),
    { ...broken, uri: 'file:///v.mp4', frame: 2, timestampMs: null },
    broken,
    frame(0),
  ]);
  const video = { uri: 'file:///v.mp4', width: 3, height: 2 };
  assert.deepEqual(summary.entries, 4);
  assert.deepEqual(
    summary.listed!.map((entry) => JSON.parse(entry)),
    [
      { uri: 'file:///a.jpg', name: 'name-0', width: 3, height: 2, pixels: 6, counted: 1 },
      { ...video, name: 'name-1', frames: 2, pixels: 12, counted: 2, quarantinedFrames: 1 },
      { uri: 'file:///b.jpg', quarantined: true, error: 'It is gone' },
      { ...video, name: 'name-5', frames: 1, pixels: 6, counted: 1 },
    ],
  );
  const most = Array.from({ length: mostListed }, () => done);
  assert.equal((await write(t, most)).summary.listed?.length, mostListed);
  const { listed, entries } = (await write(t, [...most, done])).summary;
  assert.deepEqual([listed, entries], [undefined, mostListed + 1]);
});

test('property: job.json lists the same entries however the sources are cut into pieces', async () => {
  const source = fc
    .record({ uri: fc.constantFrom('file:///v', 'file:///w'), frame: fc.option(fc.nat(3)), isBad: fc.boolean() })
    .map(({ uri, frame, isBad }): SourceLine => {
      const video = frame === null ? {} : { frame, timestampMs: null };
      return { ...(isBad ? { quarantined: true } : done), uri, ...video };
    });
  const pieces = fc.array(fc.array(source, { maxLength: 6 }), { maxLength: 5 });
  fc.assert(
    fc.property(pieces, fc.constantFrom(0, mostListed - 2), (pieces, before) => {
      const images = Array.from({ length: before }, () => done);
      const [whole, cut, range] = [new ListedSources(), new ListedSources(), new ListedSources()];
      for (const line of [...images, ...pieces.flat()]) whole.add(line);
      for (const piece of [images, ...pieces]) {
        range.begin(cut.count);
        for (const line of piece) range.add(line);
        cut.append(structuredClone(range.take()));
      }
      assert.deepEqual(cut.end(), whole.end());
    }),
  );
});
