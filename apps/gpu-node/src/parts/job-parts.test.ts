import assert from 'node:assert/strict';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import type { Lease } from '@halogrid/proto';
import { FeatureReader } from '@halogrid/results/feature-reader';
import type { FoundShard } from '@halogrid/results/found-shard';
import { PartThread } from '@halogrid/results/part-thread';
import { partsFolder } from '@halogrid/results/shard-place';
import { frameLease, lbp, packed, type TestFolder, withFolder } from '../executor/testing/shard-fixture.ts';
import { openJobParts } from './job-parts.ts';
import { startTaker } from './testing/file-taker.ts';

const thread = new PartThread();
after(() => thread.end());

const bins = 59;
/** A shard of one source, whose file name has its capture time. */
function shardOf(index: number): FoundShard {
  const uri = `file:///cam${index}/20260131-080000.pgm`;
  return {
    block: packed([{ index, uri }]),
    found: Uint32Array.of(0),
    widths: Uint32Array.of(bins),
    heights: Uint32Array.of(1),
    parts: [{ counted: Float64Array.of(bins), bins: new Uint32Array(bins).fill(1) }],
  };
}

function leaseIn(folder: TestFolder, more: Partial<Lease> = {}): Lease {
  const pipeline = { operations: [lbp({ labels: 'nri-uniform' })] };
  return frameLease(folder, [], { pipeline, captured: { from: 'cam{camera}/%Y%m%d-%H%M%S', zone: 'UTC' }, ...more });
}

test('a part of the job is in its scratch folder, with times and cameras by the rule of the job', async () => {
  await withFolder(async (folder) => {
    const parts = await openJobParts(thread, leaseIn(folder));
    const added = [7, 8].map((index) => parts.add(shardOf(index)));
    parts.flush();
    const [first, second] = await Promise.all(added);
    assert.equal(first!.found.part, second!.found.part);
    assert.ok(first!.seconds > 0);
    const path = join(folder.path, 'scratch', partsFolder, first!.found.part!, 'features.parquet');
    const { places } = second!.found;
    const features = (await FeatureReader.open(path))!;
    const { camera, capturedAtMs } = await features.columns(places[0]!.features!.firstGroup, bins);
    assert.deepEqual([camera.texts[camera.numbers[0]!], capturedAtMs[0]], ['8', Date.parse('2026-01-31T08:00:00Z')]);
    // A verified shard has the same sums, and is not written.
    const { part, places: _, ...sums } = second!.found;
    const { found } = await parts.sum(shardOf(8));
    assert.deepEqual(found, { ...sums, places: [] });
    assert.deepEqual(await readdir(join(folder.path, 'scratch', partsFolder)), [part]);
    await parts.close();
  });
});

test('a part of a job whose scratch folder the node cannot see is sent once, and nothing of it stays', async (t) => {
  const { taken, origin } = await startTaker(t);
  await withFolder(async (folder) => {
    const own = join(folder.path, 'own');
    await mkdir(own);
    useTmpdir(t, own);
    const parts = await openJobParts(thread, leaseIn(folder, { handOver: `${origin}/handover/job/token` }));
    const added = [7, 8].map((index) => parts.add(shardOf(index)));
    parts.flush();
    const [{ found }] = (await Promise.all(added)) as [{ found: { part?: string } }, unknown];
    const base = `/handover/job/token/parts/${found.part}`;
    assert.deepEqual(
      taken.map(({ path }) => path),
      [`${base}/features.parquet`, `${base}/sources.parquet`],
    );
    assert.deepEqual(await readdir(join(folder.path, 'scratch')), []);
    await parts.close();
    assert.deepEqual(await readdir(own), []);
  });
});

test('if the scratch folder is gone because the job has ended, nothing is written', async () => {
  await withFolder(async (folder) => {
    const parts = await openJobParts(thread, leaseIn(folder, { scratch: `${folder.scratch}/gone` }));
    await assert.rejects(parts.add(shardOf(7)), /^Error: Part '.*' was not written: ENOENT: /);
    assert.deepEqual(await readdir(join(folder.path, 'scratch')), []);
    await parts.close();
  });
});

/** Until the test ends, temporary folders are made in `folder`. */
function useTmpdir(t: TestContext, folder: string): void {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
}
