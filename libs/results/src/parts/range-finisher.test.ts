import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { anyMadeJob } from '../testing/found-jobs.ts';
import { temporaryFolder } from '../testing/maps.ts';
import { finishParts, writeAtOnce, writeParts } from '../testing/part-outputs.ts';

test('outputs that are finished from parts are byte for byte those that are written at once', async (t) => {
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
    { numRuns: repeated(20, 120) },
  );
});
