import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { isThorough } from '@halogrid/testing';
import fc from 'fast-check';
import { temporaryFolder } from '../testing/maps.ts';
import { headOfList, type SourceLine, SourceList } from './source-list.ts';
import { SourceRows } from './source-rows.ts';

const head = { halogrid: '1.0.0', file: 'sources', format: 1, resultsVersion: 5 };
const text = fc.string({ unit: 'grapheme' });
const count = fc.maxSafeNat();
const what = fc.record(
  {
    uri: text,
    version: text,
    video: fc.option(fc.record({ frame: count, timestampMs: fc.option(fc.double({ min: 0, noNaN: true })) })),
  },
  { requiredKeys: ['uri'] },
);
const done = fc.record(
  { name: text, width: count, height: count, counted: count, digest: text, captured: text },
  { requiredKeys: ['name', 'width', 'height', 'counted', 'digest'] },
);
const line = fc
  .tuple(what, fc.oneof(done, fc.constant({ quarantined: true as const })))
  .map(([{ video, ...others }, of]) => JSON.parse(JSON.stringify({ ...others, ...video, ...of })) as SourceLine);

test('a list has the same sources as lines and as rows, in order and by number', async (t) => {
  const folder = await temporaryFolder(t);
  await fc.assert(
    // Rows are in pages of 1024, and these in row groups of 8192.
    fc.asyncProperty(fc.array(line, { maxLength: 40 }), fc.constantFrom(1, 1, 30, 250), async (some, times) => {
      const lines = Array.from({ length: times }, () => some).flat();
      for (const write of [writeLines, writeRows]) {
        await write(folder, lines);
        assert.deepEqual(JSON.parse(await headOfList(folder)), head);
        const list = (await SourceList.open(folder))!;
        assert.equal(list.length, lines.length);
        assert.deepEqual(await Array.fromAsync(list.lines()), lines);
        for (const index of new Set([0, 1, 1023, 1024, 8191, 8192, lines.length - 1])) {
          if (index < 0 || index >= lines.length) continue;
          assert.deepEqual(await list.line(index), lines[index]);
          const before = lines.slice(0, index).filter(({ quarantined }) => !quarantined).length;
          assert.equal(await list.doneBefore(index), before);
          const { uri, frame = 0 } = lines[index]!;
          const first = lines.findIndex((one) => one.uri === uri && (one.frame ?? 0) === frame);
          assert.equal(await list.find(uri, frame), first);
        }
        const last = Math.max(0, lines.length - 2);
        assert.deepEqual(await Array.fromAsync(list.lines(last)), lines.slice(last));
        await assert.rejects(list.line(lines.length), RangeError);
      }
    }),
    { numRuns: isThorough ? 40 : 8 },
  );
});

test('a source is found by its whole URI and its frame', async (t) => {
  const folder = await temporaryFolder(t);
  // The file is longer than the piece that is read at once.
  const uriOf = (i: number) => `file:///${'ä'.repeat(100)}"quarantined":true/${String(i).padStart(5, '0')}`;
  const lines = Array.from({ length: 20_000 }, (_, i): SourceLine => {
    const [uri, size] = [uriOf(i), { width: 1, height: 1, counted: 1, digest: '' }];
    return i % 3 === 1 ? { uri, quarantined: true } : { uri, name: `n${i}`, ...size };
  });
  for (const write of [writeLines, writeRows]) {
    await write(folder, lines);
    const list = (await SourceList.open(folder))!;
    for (const index of [0, 4_444, 9_000, 19_999]) assert.equal(await list.find(uriOf(index)), index);
    // The beginning of another name, a name that is part of others, and a frame that an image does not have.
    for (const uri of [uriOf(1).slice(0, -2), '/00000', uriOf(20_000)]) assert.equal(await list.find(uri), undefined);
    assert.equal(await list.find(uriOf(3), 2), undefined);
    assert.equal(await list.doneBefore(8_999), 6_000 - 1);
  }
});

test('rows that are asked for in another order are copied as lines once', async (t) => {
  const folder = await temporaryFolder(t);
  const lines = Array.from({ length: 20_000 }, (_, i): SourceLine => {
    const uri = `file:///ö/${i}`;
    return i % 5 === 1
      ? { uri, quarantined: true }
      : { uri, name: `n${i}`, width: i, height: 1, counted: 1, digest: '' };
  });
  await writeRows(folder, lines);
  const inOrder = (await SourceList.open(folder))!;
  for (let i = 0; i < lines.length; i += 97) assert.deepEqual(await inOrder.lineOfMany(i), lines[i]);
  const list = (await SourceList.open(folder))!;
  const other = Array.from({ length: 500 }, (_, i) => (i * 48_271) % lines.length);
  const few = other.slice(0, 100);
  assert.deepEqual(
    await Promise.all(few.map((i) => list.lineOfMany(i))),
    few.map((i) => lines[i]),
  );
  await assert.rejects(list.lineOfMany(lines.length), RangeError);
  await rm(list.path);
  for (const i of other) assert.deepEqual(await list.lineOfMany(i), lines[i]);
  await assert.rejects(inOrder.lineOfMany(7), { code: 'ENOENT' });
  await list.close();
  await inOrder.close();
});

test('a folder without a list gives undefined, and another file is refused with one sentence', async (t) => {
  const folder = await temporaryFolder(t);
  assert.equal(await SourceList.open(folder), undefined);
  assert.equal(await headOfList(folder), '');
  await writeFile(join(folder, 'sources.parquet'), 'PAR1 and nothing else');
  await assert.rejects(SourceList.open(folder), /^Error: '.*sources\.parquet' cannot be read: /);
});

async function writeLines(folder: string, lines: readonly SourceLine[]): Promise<void> {
  await rm(join(folder, 'sources.parquet'), { force: true });
  const texts = [head, ...lines].map((one) => `${JSON.stringify(one)}\n`);
  await writeFile(join(folder, 'sources.jsonl'), texts.join(''));
}

async function writeRows(folder: string, lines: readonly SourceLine[]): Promise<void> {
  await rm(join(folder, 'sources.jsonl'), { force: true });
  const rows = await SourceRows.create(join(folder, 'sources.parquet'), head);
  for (const one of lines) await rows.add(one);
  await rows.finish();
}
