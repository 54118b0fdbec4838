import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { anyMadeJob, type MadeJob } from '../testing/found-jobs.ts';
import { temporaryFolder } from '../testing/maps.ts';
import { finishParts, writeAtOnce, writeParts } from '../testing/part-outputs.ts';

test('outputs that are finished from parts equal, byte for byte, outputs that are written at once', async (t) => {
  const folder = await temporaryFolder(t);
  await fc.assert(
    fc.asyncProperty(anyMadeJob(), async (job) => {
      const tables = await finishParts(folder, job, await writeParts(folder, job));
      for (const [i, pipeline] of job.pipelines.entries()) {
        const { list, features } = await writeAtOnce(folder, job, pipeline);
        assert.ok(tables[i]!.list.equals(list));
        assert.ok(!features || tables[i]!.features!.equals(features));
      }
      await rm(join(folder, 'parts'), { recursive: true, force: true });
    }),
    { numRuns: repeated(8, 120) },
  );
});

test('shards with many pages and row groups are finished, too, wherever they end', async (t) => {
  const folder = await temporaryFolder(t);
  const job: MadeJob = {
    pipelines: [{ name: '', shape: { grid: { rows: 1, columns: 1 }, channels: 1, bins: 3 } }],
    rule: { from: '', zone: '' },
    sources: Array.from({ length: 18_000 }, (_, index) => ({
      planned: { index, uri: `file:///in/${index}.png`, name: `${index}`, sizeBytes: 9 },
      size: index % 1000 === 999 ? undefined : { width: 40, height: 40 },
    })),
    // Row groups have 8192 sources. In parts they are counted from the beginning of a shard.
    firsts: [0, 8193, 8194, 17_000],
    partOf: [0, 0, 1, 0],
    seed: 1,
    largest: 300,
  };
  const [tables] = await finishParts(folder, job, await writeParts(folder, job));
  const { list, features } = await writeAtOnce(folder, job, job.pipelines[0]!);
  assert.ok(tables!.list.equals(list));
  assert.ok(tables!.features!.equals(features!));
});
