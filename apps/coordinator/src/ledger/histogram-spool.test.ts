import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { HistogramSpool } from './histogram-spool.ts';
import { readHistograms } from './read-histograms.ts';

test('sources are read in the order asked for, whatever the order they came in', async (t) => {
  const folder = await temporaryFolder(t);
  let spools = 0;
  const job = fc.record({
    bins: fc.array(fc.array(fc.oneof(fc.nat(200), fc.maxSafeNat()), { minLength: 3, maxLength: 3 }), {
      minLength: 1,
      maxLength: 30,
    }),
    appendOrder: fc.infiniteStream(fc.nat()),
    readOrder: fc.infiniteStream(fc.nat()),
  });
  await fc.assert(
    fc.asyncProperty(job, async ({ bins, appendOrder, readOrder }) => {
      const spool = new HistogramSpool(join(folder, String(spools++)));
      t.after(() => spool.close());
      for (const source of shuffled(bins.length, appendOrder)) spool.append(source, bins[source]!);
      const order = shuffled(bins.length, readOrder);
      assert.deepEqual(
        await readAll(spool, order, 3),
        order.map((source) => [source, ...bins[source]!]),
      );
    }),
    { numRuns: repeated(15, 50) },
  );
});

test('blocks are given back as they came, among sources, before and after they are on the disk and by a later process', async (t) => {
  const path = join(await temporaryFolder(t), 'spool');
  const spool = new HistogramSpool(path);
  t.after(() => spool.close());
  const blocks = [1, 3_000_000, 20].map((length, n) => new Uint8Array(length).fill(n + 1));
  const places: { offset: number; length: number }[] = [];
  for (const [source, block] of blocks.entries()) {
    spool.append(source, [300, 0, source]);
    places.push({ offset: spool.end, length: block.length });
    spool.appendBlock(Uint8Array.from(block));
  }
  const check = (from: HistogramSpool): void => {
    for (const [n, { offset, length }] of places.entries()) assert.deepEqual(from.read(offset, length), blocks[n]);
  };
  assert.ok(!spool.isWritten(places[0]!.offset + 1));
  check(spool);
  assert.throws(() => spool.read(spool.end, 1), RangeError);
  await spool.sync();
  assert.ok(spool.isWritten(spool.end));
  check(spool);
  assert.deepEqual(await readAll(spool, [2, 0], 3), [
    [2, 300, 0, 2],
    [0, 300, 0, 0],
  ]);
  const later = new HistogramSpool(path);
  t.after(() => later.close());
  later.restoreBlock(spool.end);
  await later.recover();
  check(later);
  later.appendBlock(Uint8Array.of(9));
  assert.deepEqual(later.read(spool.end, 1), Uint8Array.of(9));
  await truncate(path, 4);
  assert.throws(() => later.read(places[2]!.offset, 20), /^RangeError: The file of histograms '.*' ends early$/);
});

test('many blocks of many sources come back, and indices have gaps', async (t) => {
  const folder = await temporaryFolder(t);
  const spool = new HistogramSpool(join(folder, 'spool'));
  t.after(() => spool.close());
  // 3 bytes a count: 15 MB, so that blocks are written while others are filled, and offsets are far apart.
  const binsOf = (source: number): Float64Array =>
    Float64Array.from({ length: 500 }, (_, i) => 2 ** 20 - source * 7 + i);
  const sources = Array.from({ length: 10_000 }, (_, i) => 2 * i + 1);
  // Pairs finish the other way round, and the last source of all comes first.
  const came = [sources.at(-1)!, ...sources.slice(0, -1).map((_, i, all) => all[i ^ 1] ?? all[i]!)];
  for (const source of came) {
    spool.append(source, binsOf(source));
    if (source % 4096 === 1) await spool.sync();
  }
  await spool.sync();
  let next = 0;
  const places = sources.map((source) => spool.written(source)!);
  for (const { bins } of readHistograms(spool.path, places, 500)) assert.deepEqual(bins, binsOf(sources[next++]!));
  assert.equal(next, sources.length);
  assert.throws(() => spool.written(2), /no histograms of source 2$/);
  assert.throws(() => spool.written(1e6), /no histograms of source 1000000$/);
});

test('an earlier process that goes on does not write into what its successor has', async (t) => {
  const path = join(await temporaryFolder(t), 'spool');
  const [old, untouched] = [new HistogramSpool(path), new HistogramSpool(path)];
  old.append(0, [1, 2, 3]);
  await old.sync();
  const successor = new HistogramSpool(path);
  successor.restore(0, old.place(0));
  await successor.recover();
  successor.append(1, [4, 5, 6]);
  await successor.sync();
  old.append(1, [7, 8, 9]);
  await old.sync();
  untouched.append(1, [7, 8, 9]);
  await assert.rejects(untouched.sync(), /EEXIST/);
  const places = [successor.place(0), successor.place(1)];
  const found = [...readHistograms(path, places, 3).map(({ bins }) => [...bins])];
  assert.deepEqual(found, [
    [1, 2, 3],
    [4, 5, 6],
  ]);
  for (const spool of [old, successor]) await spool.close();
});

test('a source can be read once it is written, and the file is opened anew for what comes later', async (t) => {
  const folder = await temporaryFolder(t);
  const spool = new HistogramSpool(join(folder, 'spool'));
  t.after(() => spool.close());
  await spool.sync();
  assert.deepEqual(await readdir(folder), [], 'there is no file before there is something to write');
  for (const round of [0, 1, 2]) {
    spool.append(round, [round, 1000]);
    await spool.sync();
    spool.append(round + 10, [round, 2000]);
    const order = [round + 10, 0, round];
    assert.deepEqual(await readAll(spool, order, 2), [
      [round + 10, round, 2000],
      [0, 0, 1000],
      [round, round, 1000],
    ]);
  }
  await spool.close();
  assert.deepEqual(await readAll(spool, [11], 2), [[11, 1, 2000]]);
});

test('what is appended while the disk is at work is kept for the next time', async (t) => {
  const spool = new HistogramSpool(join(await temporaryFolder(t), 'spool'));
  t.after(() => spool.close());
  // Half a megabyte each: some fill the block that is being written, others begin new ones.
  const binsOf = (source: number): Float64Array => new Float64Array(2 ** 16).fill(source);
  const written: Promise<void>[] = [];
  for (let source = 0; source < 20; source++) {
    spool.append(source, binsOf(source));
    if (source % 5 === 0) {
      await Promise.all(written);
      written.push(spool.sync());
    }
  }
  await Promise.all(written);
  const order = [...Array(20).keys()];
  for (const [source, ...bins] of await readAll(spool, order, 2 ** 16)) assert.deepEqual(bins, [...binsOf(source!)]);
});

test('what cannot be written is told in one sentence, kept, and written when it can be', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'later', 'spool');
  const spool = new HistogramSpool(path);
  t.after(() => spool.close());
  const failure = { message: new RegExp(`^The histograms could not be kept in '${path}': ENOENT`) };
  spool.append(0, [1, 2]);
  await assert.rejects(spool.sync(), failure);
  spool.append(1, [3, 4]);
  await assert.rejects(spool.sync(), failure);
  assert.equal(spool.written(0), undefined);
  await mkdir(join(folder, 'later'));
  assert.deepEqual(await readAll(spool, [1, 0], 2), [
    [1, 3, 4],
    [0, 1, 2],
  ]);
  await spool.close();
});

test('another process goes on with the file: what was not synced is cut off, and a shorter file is refused', async (t) => {
  const path = join(await temporaryFolder(t), 'spool');
  const before = new HistogramSpool(path);
  before.append(0, [1, 2]);
  before.append(7, [300, 4]);
  await before.sync();
  await before.close();
  await appendFile(path, 'half a group');

  const recovered = (): HistogramSpool => {
    const spool = new HistogramSpool(path);
    t.after(() => spool.close());
    for (const source of [7, 0]) spool.restore(source, before.place(source));
    return spool;
  };
  const spool = recovered();
  await spool.recover();
  spool.append(3, [5, 6]);
  assert.deepEqual(await readAll(spool, [0, 3, 7], 2), [
    [0, 1, 2],
    [3, 5, 6],
    [7, 300, 4],
  ]);
  await spool.close();
  await truncate(path, 4);
  const lost = { message: `The histograms in '${path}' are lost: the file has 4 bytes instead of 5` };
  await assert.rejects(recovered().recover(), lost);
  await rm(path);
  await assert.rejects(recovered().recover(), { message: /are lost: ENOENT/ });
});

test('a byte that has changed is noticed', async (t) => {
  const path = join(await temporaryFolder(t), 'spool');
  const spool = new HistogramSpool(path);
  t.after(() => spool.close());
  spool.append(0, [1, 2]);
  spool.append(1, [3, 4]);
  await spool.sync();
  await writeFile(path, Uint8Array.of(1, 2, 3, 5));
  await assert.rejects(readAll(spool, [0, 1], 2), {
    message: `The file of histograms '${path}' has changed at byte 2 since it was written`,
  });
});

test('a file that was cut meanwhile is not read as if it were whole', async (t) => {
  const path = join(await temporaryFolder(t), 'spool');
  const spool = new HistogramSpool(path);
  t.after(() => spool.close());
  spool.append(0, [1, 2]);
  await spool.sync();
  await truncate(path, 1);
  await assert.rejects(readAll(spool, [0], 2), { message: `The file of histograms '${path}' ends early` });
});

async function readAll(spool: HistogramSpool, sources: number[], binsOfSource: number): Promise<number[][]> {
  await spool.sync();
  await spool.close();
  const places = sources.map((source) => spool.written(source)!);
  return [...readHistograms(spool.path, places, binsOfSource).map(({ bins }) => [...bins])].map((bins, i) => {
    return [sources[i]!, ...bins];
  });
}

/** The numbers below `count` in an order made of random ones. */
function shuffled(count: number, random: Iterator<number>): number[] {
  const rest = [...Array(count).keys()];
  return Array.from({ length: count }, () => rest.splice(random.next().value % rest.length, 1)[0]!);
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-spool-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
