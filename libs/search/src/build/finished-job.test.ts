import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeJob } from '../testing/make-job.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { readFinishedJob } from './finished-job.ts';

/** The output of a job of pipelines of these names. */
async function makeNamedJob(out: string, names: readonly string[]): Promise<string> {
  for (const name of names) await makeJob(join(out, 'pipelines', name), [], { digest: `digest of ${name}` });
  const named = names.map((name) => ({ name, pipeline: { operations: [] } }));
  await mkdir(out, { recursive: true });
  const text = { id: 'job-1', state: 'complete', specification: { sources: [], pipelines: { named } } };
  await writeFile(join(out, 'job.json'), JSON.stringify(text));
  return out;
}

test('each pipeline of a job with several is a job of its own', async (t) => {
  const folder = await temporaryFolder(t);
  const out = await makeNamedJob(join(folder, 'several'), ['plain', 'edges']);
  const { digest, features } = await readFinishedJob(out, 'edges');
  assert.deepEqual([digest, features], ['digest of edges', join(out, 'pipelines', 'edges', 'features.parquet')]);
  await assert.rejects(readFinishedJob(out), {
    message: `The job in '${out}' has several pipelines: choose one with --pipeline, of plain, edges`,
  });
  await assert.rejects(readFinishedJob(out, '../plain'), {
    message: `The job in '${out}' has no pipeline '../plain': choose one with --pipeline, of plain, edges`,
  });
});

test('a name may be left out if there is one pipeline, and must be if it has none', async (t) => {
  const folder = await temporaryFolder(t);
  const out = await makeNamedJob(join(folder, 'one'), ['plain']);
  assert.equal((await readFinishedJob(out)).digest, 'digest of plain');
  const unnamed = await makeJob(join(folder, 'unnamed'), []);
  await assert.rejects(readFinishedJob(unnamed, 'plain'), {
    message: `The pipeline of the job in '${unnamed}' has no name: leave out 'plain'`,
  });
});
