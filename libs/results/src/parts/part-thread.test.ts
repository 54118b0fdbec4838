import assert from 'node:assert/strict';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { packSources } from '@halogrid/sources/pack-sources';
import { SourceBlock } from '@halogrid/sources/source-block';
import { within } from '@halogrid/testing';
import { packKnown } from '../counts/known-sums.ts';
import { SourceList } from '../sources/source-list.ts';
import { temporaryFolder } from '../testing/maps.ts';
import { partBounds } from './ends-part.ts';
import { type FoundShard, summariseShard } from './found-shard.ts';
import { PartThread } from './part-thread.ts';

const shape = { grid: { rows: 1, columns: 1 }, channels: 1, bins: 4 };

/** A shard of two sources. */
function shardOf(index: number): FoundShard {
  const source = (nth: number) => ({ index: index + nth, uri: `file:///${index + nth}`, name: `${nth}`, sizeBytes: 1 });
  return {
    block: packSources([source(0), source(1)]),
    found: Uint32Array.of(0, 1),
    widths: Uint32Array.of(3, 3),
    heights: Uint32Array.of(2, 2),
    parts: [{ counted: Float64Array.of(6, 6), bins: Uint32Array.of(index, 6 - index, 0, 0, 1, 2, 3, 0) }],
  };
}

/** The counts that the test's own thread packs first: with 0 the other thread packs all, with 2^20 none. */
const few = [0, 2 ** 20];

async function start(t: TestContext, fewCounts: number) {
  const scratch = await temporaryFolder(t);
  const thread = new PartThread(fewCounts);
  t.after(() => thread.end());
  const folder = join(scratch, 'parts');
  return { scratch, thread, folder, task: { folder, pipelines: [{ name: '', shape }] } };
}

test('shards resolve when their part is there, which ends at a bound or because nothing else comes', async (t) => {
  for (const fewCounts of few) {
    const { thread, folder, task } = await start(t, fewCounts);
    const took: number[] = [];
    const added = [0, 1].map((index) => thread.add(task, shardOf(index), (seconds) => void took.push(seconds)));
    await thread.flush(folder);
    const flushed = await within('shards of a part that is ended', Promise.all(added));
    assert.equal(flushed[0]!.part, flushed[1]!.part);
    assert.ok(took[0]! > 0 && took[0] === took[1], `${took}`);
    assert.deepEqual(await readdir(folder), [flushed[0]!.part]);
    // One more than a part may have; the last waits until its part is old enough.
    const many = Array.from({ length: partBounds.shards + 1 }, (_, i) => thread.add(task, shardOf(2 * i)));
    const parts = (await within('shards of full parts', Promise.all(many))).map(({ part }) => part);
    assert.deepEqual((await readdir(folder)).sort(), [...new Set([flushed[0]!.part, ...parts])].sort());
    assert.notEqual(parts.at(-1), parts[0]);
    assert.equal((await urisOf(join(folder, parts.at(-1)!))).at(-1), `file:///${2 * partBounds.shards + 1}`);
  }
});

const urisOf = async (part: string): Promise<string[]> =>
  (await Array.fromAsync((await SourceList.open(part))!.lines())).map(({ uri }) => uri);

test('a shard that is not written has the same summary as one that is, and its counts are transferred', async (t) => {
  for (const fewCounts of few) {
    const { thread, folder, task } = await start(t, fewCounts);
    const [one, other] = [shardOf(1), shardOf(1)];
    const expected = summariseShard(one, [shape]);
    const {
      part: _,
      places: __,
      ...written
    } = await Promise.all([thread.add(task, one), thread.forget(folder)]).then(([found]) => found);
    for (const summary of [written, await thread.summarise(other, [shape])]) {
      assert.deepEqual({ ...summary, digest: Buffer.from(summary.digest) }, expected);
    }
    assert.equal(one.parts[0]!.bins.length, 0);
    assert.equal(other.block.length > 0, true);
  }
});

test('known counts in the block count like counts that were found', async (t) => {
  const size = { width: 3, height: 2 };
  const bins = [0, 6, 5, 1];
  const source = {
    index: 0,
    uri: 'file:///0',
    name: '0',
    sizeBytes: 1,
    known: packKnown([{ counted: 6, bins }, undefined]),
  };
  const lost = { ...source, index: 1, uri: 'file:///1', known: new Uint8Array() };
  const own = { counted: Float64Array.of(5), bins: Uint32Array.of(5, 0, 0, 5) };
  const shard = (known?: FoundShard['parts'][number]): FoundShard => ({
    block: packSources([lost, source]),
    found: Uint32Array.of(1),
    widths: Uint32Array.of(size.width),
    heights: Uint32Array.of(size.height),
    parts: [known, { ...own, bins: own.bins.slice() }],
  });
  for (const fewCounts of few) {
    const { thread, folder } = await start(t, fewCounts);
    const pipelines = ['old', 'new'].map((name) => ({ name, shape }));
    const expected = summariseShard(shard({ counted: Float64Array.of(6), bins: Float64Array.from(bins) }), [
      shape,
      shape,
    ]);
    const added = thread.add({ folder, pipelines }, shard());
    const { part: _, places: __, ...summary } = await within('a part', added);
    assert.deepEqual({ ...summary, digest: Buffer.from(summary.digest) }, expected);
  }
});

test('if a part cannot be written, all of its shards are refused with one sentence, and nothing is left', async (t) => {
  for (const fewCounts of few) {
    const { thread, scratch, folder, task } = await start(t, fewCounts);
    await writeFile(folder, 'a file');
    const refused = (shards: Promise<unknown>[], message: RegExp, code?: string) =>
      Promise.all(
        shards.map((shard) => assert.rejects(within('a refusal', shard), { message, ...(code && { code }) })),
      );
    await refused([thread.add(task, shardOf(0))], /^Part '.*\/parts' was not written: ENOTDIR: /, 'ENOTDIR');
    await rm(folder);
    // One of the shards has an array of the wrong length.
    const bad = { ...shardOf(1), widths: Uint32Array.of(1) };
    const shards = [shardOf(0), bad].map((shard) => thread.add(task, shard));
    await refused(shards, /^Part '.*\/parts\/[0-9a-f-]{36}' was not written: A shard has 1 widths instead of 2$/);
    assert.deepEqual(await readdir(folder), []);
    // The counts of the second source are not in the block.
    const known = packKnown([{ counted: 6, bins: [6, 0, 0, 0] }]);
    const sources = [...new SourceBlock(shardOf(2).block)];
    const half = { ...shardOf(2), block: packSources([{ ...sources[0]!, known }, sources[1]!]), parts: [undefined] };
    await refused([thread.add(task, half)], /was not written: /);
    // The next shard begins another part, which has only its sources.
    const next = await within('the next part', thread.add(task, shardOf(3)));
    assert.deepEqual(await readdir(folder), [next.part]);
    assert.deepEqual(await urisOf(join(folder, next.part)), ['file:///3', 'file:///4']);
    await rm(scratch, { recursive: true });
    await refused([thread.add(task, shardOf(4))], /was not written: ENOENT: /, 'ENOENT');
    await mkdir(scratch);
  }
});
